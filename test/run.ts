import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installServices } from './support/services.ts';

/**
 * `npm test`: every check and every test, in the order in which they fail fastest, and one line of figures at the
 * end. `npm test -- unit e2e` runs only these; `--install-services` installs what real services need.
 */
interface Figures {
  passed: number;
  failed: number;
  skipped: number;
}

const node = process.execPath;
const bin = (name: string) => join('node_modules', '.bin', name);

const checks: { [name: string]: readonly string[] } = {
  lint: [bin('biome'), 'ci', '--error-on-warnings', '.'],
  types: [bin('tsc'), '--noEmit'],
  unused: [node, 'node_modules/knip/bin/knip.js'],
};
const projects = ['unit', 'contracts', 'integration', 'e2e', 'chaos'];

const asked = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const wanted = (name: string) => asked.length === 0 || asked.includes(name);

const total: Figures = { passed: 0, failed: 0, skipped: 0 };
const folder = mkdtempSync(join(tmpdir(), 'hermes-test-'));
/** Every temporary file of the tests lies here, and goes with it. */
const temporary = join(folder, 'tmp');
mkdirSync(temporary);

installServices(process.env['CI'] !== undefined || process.argv.includes('--install-services'));
for (const [name, argv] of Object.entries(checks)) if (wanted(name)) add(await check(name, argv));
for (const name of projects) if (wanted(name)) add(await vitest(name));

rmSync(folder, { recursive: true, force: true });
const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : '';
process.stdout.write(`\n${total.passed} passed, ${total.failed} failed${skipped}\n`);
process.exitCode = total.failed > 0 ? 1 : 0;

function add(figures: Figures): void {
  total.passed += figures.passed;
  total.failed += figures.failed;
  total.skipped += figures.skipped;
}

function check(name: string, [program = '', ...args]: readonly string[]): Figures {
  process.stdout.write(`\n── ${name}\n`);
  const failed = spawnSync(program, args, { stdio: 'inherit' }).status === 0 ? 0 : 1;
  return { passed: 1 - failed, failed, skipped: 0 };
}

async function vitest(project: string): Promise<Figures> {
  process.stdout.write(`\n── ${project}\n`);
  const report = join(folder, `${project}.json`);
  const args = [
    'run',
    '--project',
    project,
    '--passWithNoTests',
    '--reporter=dot',
    '--reporter=json',
    `--outputFile=${report}`,
  ];
  const env = { ...process.env, TMPDIR: temporary };
  const child = spawn(node, ['node_modules/vitest/vitest.mjs', ...args], { stdio: 'inherit', env });
  const status = await new Promise<number | null>((resolve) => child.on('exit', resolve));
  try {
    const { numPassedTests, numFailedTests, numPendingTests, success } = JSON.parse(
      readFileSync(report, 'utf8'),
    );
    // A suite that breaks outside of its tests (an import, a hook) counts as one failure.
    const broken = success && status === 0 ? 0 : 1;
    return { passed: numPassedTests, failed: Math.max(numFailedTests, broken), skipped: numPendingTests };
  } catch {
    // No report was written: the run itself broke.
    return { passed: 0, failed: 1, skipped: 0 };
  }
}
