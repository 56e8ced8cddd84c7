import { parentPort, workerData } from 'node:worker_threads';
import { detectDangerousCommand } from './detect.ts';
import type { LongCommand } from './judge-apart.ts';
import { compileUserPatterns } from './user-patterns.ts';

// The thread of judge-apart.ts: one command in, one judgement out.
const { command, context, lists }: LongCommand = workerData;
parentPort?.postMessage(detectDangerousCommand(command, context, compileUserPatterns(lists)));
