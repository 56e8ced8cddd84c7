import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LoadedConfig, type LoadOptions, loadConfig } from '../../../../src/config/load.ts';
import { GatewayError } from '../../../../src/errors.ts';

/** A state directory in a temporary folder, gone at the end of its block. */
export interface TestHome extends AsyncDisposable {
  path: string;
  yaml: string;
  write(yaml: string): Promise<void>;
  writeEnv(text: string, mode?: number): Promise<void>;
  load(options?: Partial<LoadOptions>): Promise<LoadedConfig>;
  /** The error of a load that must fail. */
  refusal(options?: Partial<LoadOptions>): Promise<GatewayError>;
}

export async function testHome(yaml?: string): Promise<TestHome> {
  const path = await mkdtemp(join(tmpdir(), 'hermes-config-'));
  const file = join(path, 'config.yaml');
  const load = (options: Partial<LoadOptions> = {}) => loadConfig({ home: path, env: {}, ...options });
  const home: TestHome = {
    path,
    yaml: file,
    write: (text) => writeFile(file, text),
    async writeEnv(text, mode = 0o600) {
      await writeFile(join(path, '.env'), text);
      await chmod(join(path, '.env'), mode);
    },
    load,
    async refusal(options) {
      const outcome = await load(options).catch((error: unknown) => error);
      if (outcome instanceof GatewayError) return outcome;
      throw new Error('the configuration was accepted');
    },
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
  if (yaml !== undefined) await home.write(yaml);
  return home;
}
