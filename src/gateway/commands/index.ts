import { approvals } from './approvals.ts';
import { approve } from './approve.ts';
import type { Command } from './command.ts';
import { deny } from './deny.ts';
import { help } from './help.ts';
import { fresh, reset } from './new.ts';
import { queue } from './queue.ts';
import { restart } from './restart.ts';
import { retry } from './retry.ts';
import { sethome } from './sethome.ts';
import { status } from './status.ts';
import { steer } from './steer.ts';
import { stop } from './stop.ts';
import { toolsets } from './toolsets.ts';
import { undo } from './undo.ts';
import { usage } from './usage.ts';
import { whoami } from './whoami.ts';

/** Every chat command, in the order of the platforms' menus. A new one is a file here and a line below. */
const all = [
  help,
  fresh,
  reset,
  stop,
  status,
  approve,
  deny,
  toolsets,
  queue,
  steer,
  retry,
  undo,
  usage,
  whoami,
  sethome,
  approvals,
  restart,
];

export const commands: ReadonlyMap<string, Command> = new Map(all.map((command) => [command.name, command]));
