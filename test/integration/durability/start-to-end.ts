import { spawn } from 'node:child_process';
import { once } from 'node:events';

export interface Ended {
  code: number | null;
  /** All that it wrote, to both streams. */
  output: string;
}

/** Runs `start` until it ends by itself, as it must when it cannot run. Ended by force after 20 s. */
export async function startToEnd(home: string, env: Record<string, string> = {}): Promise<Ended> {
  const child = spawn(process.execPath, ['bin/hermes-gateway.js', 'start'], {
    env: { PATH: process.env['PATH'] ?? '', HOME: home, HERMES_HOME: home, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 20_000,
    killSignal: 'SIGKILL',
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  await once(child, 'close');
  return { code: child.exitCode, output };
}
