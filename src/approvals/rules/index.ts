import type { SimpleCommand } from '../shell/command.ts';
import { CLOUD_RULES } from './cloud.ts';
import { CODE_RULES } from './code.ts';
import { CREDENTIAL_RULES } from './credentials.ts';
import { DELETE_RULES } from './delete.ts';
import { GIT_RULES } from './git.ts';
import { HISTORY_RULES } from './history.ts';
import { MACHINE_RULES } from './machine.ts';
import { PACKAGE_RULES } from './packages.ts';
import { PERMISSION_RULES } from './permissions.ts';
import { PRIVILEGE_RULES } from './privilege.ts';
import type { Rule } from './rule.ts';
import { SERVICE_RULES } from './service.ts';
import { SQL_RULES } from './sql.ts';
import { SYSTEM_RULES } from './system.ts';
import { WIPE_RULES } from './wipe.ts';

/** Every rule of the policy. A new family is one file and one line here. */
export const RULES: readonly Rule[] = [
  ...WIPE_RULES,
  ...MACHINE_RULES,
  ...DELETE_RULES,
  ...SYSTEM_RULES,
  ...CREDENTIAL_RULES,
  ...CODE_RULES,
  ...SQL_RULES,
  ...PERMISSION_RULES,
  ...PRIVILEGE_RULES,
  ...SERVICE_RULES,
  ...GIT_RULES,
  ...PACKAGE_RULES,
  ...CLOUD_RULES,
  ...HISTORY_RULES,
];

const GENERAL = RULES.filter((rule) => rule.programs === undefined);
const BY_PROGRAM = new Map<string, Rule[]>();
for (const rule of RULES) {
  for (const program of rule.programs ?? [])
    BY_PROGRAM.set(program, [...(BY_PROGRAM.get(program) ?? []), rule]);
}

/** The names of all programs that some rule is about. */
export const RULED_PROGRAMS: readonly string[] = [...BY_PROGRAM.keys()];

/** The rules that may match a command, by its program. `mkfs.ext4` and its like are one family. */
export function rulesFor(command: SimpleCommand): readonly Rule[] {
  const { program } = command;
  const own = BY_PROGRAM.get(program.startsWith('mkfs.') ? 'mkfs.*' : program);
  return own === undefined ? GENERAL : [...own, ...GENERAL];
}
