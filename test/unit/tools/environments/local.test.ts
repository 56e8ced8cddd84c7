import { mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createLocalEnvironment } from '../../../../tools/environments/local.ts';

const limits = { sessionId: 's', timeoutMs: 10_000, signal: new AbortController().signal };

test('commands see no secret of the gateway', async () => {
  const env = {
    PATH: process.env['PATH'],
    OPENAI_API_KEY: 'sk-secret',
    PLAIN: 'seen',
    PASSED_TOKEN: 'let through',
  };
  const environment = await createLocalEnvironment({ env, envPassthrough: ['PASSED_TOKEN'] });
  const { stdout } = await environment.exec({
    ...limits,
    command: 'echo "${OPENAI_API_KEY-none} $PLAIN $PASSED_TOKEN"',
  });
  expect(stdout).toBe('none seen let through\n');
  await environment.close();
});

test('a machine without bash runs commands by sh', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'no-bash-'));
  await symlink('/bin/sh', join(folder, 'sh'));
  const environment = await createLocalEnvironment({ env: { PATH: folder }, temporaryRoot: folder });
  const { stdout } = await environment.exec({
    ...limits,
    command: 'export A=1; echo "$A ${BASH_VERSION-no bash}"',
  });
  expect(stdout).toBe('1 no bash\n');
  await environment.close();
  await rm(folder, { recursive: true });
});

test('state of a gateway that was killed is removed by the next, that of a running one is not', async () => {
  const root = await mkdtemp(join(tmpdir(), 'leftovers-'));
  const running = await createLocalEnvironment({ temporaryRoot: root });
  const [own = ''] = await readdir(root);
  const killed = await mkdtemp(join(root, 'hermes-shell-4194305-1-'));
  const next = await createLocalEnvironment({ temporaryRoot: root });
  const left = await readdir(root);
  expect(left).toContain(own);
  expect(left).not.toContain(killed.split('/').at(-1));
  await running.close();
  await next.close();
  await rm(root, { recursive: true });
});
