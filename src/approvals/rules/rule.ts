import type { SimpleCommand } from '../shell/command.ts';
import type { Category, Subject } from '../verdict.ts';

/**
 * One rule of the policy. To add one, copy an entry into the file of its family, give it a `description` that ends
 * the sentence "This command …", and examples: they are run as tests, each alone and wrapped.
 */
export interface Rule {
  readonly key: Category;
  readonly verdict: 'dangerous' | 'forbidden';
  readonly description: string;
  /** Names of the programs that it is about; without it the rule sees every command. */
  readonly programs?: readonly string[];
  readonly match: (command: SimpleCommand) => boolean;
  /** What a `session` or `always` decision would be about; without it, the exact command text. */
  readonly subject?: (command: SimpleCommand) => Subject | null;
  /** True when the deletion is of what is made to be deleted. */
  readonly routine?: (command: SimpleCommand) => boolean;
  readonly examples: { readonly must: readonly string[]; readonly mustNot: readonly string[] };
}

/** A subject of names: units, remotes, patterns. */
export function names(action: string, targets: readonly string[]): Subject {
  return { action, targets, kind: 'name' };
}

/** A subject of paths, each covering what lies below it. */
export function paths(action: string, targets: readonly string[]): Subject {
  return { action, targets, kind: 'path' };
}
