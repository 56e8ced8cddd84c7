import { mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { dirname, join, parse as parsePath } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { errorMessage } from '../src/errors.ts';
import type { Log } from '../src/log.ts';

/** Never a tool, whatever they hold: the runtime's own faces. */
const skippedModules = new Set(['index', 'registry', 'helpers']);

export interface DiscoverOptions {
  /** Absolute path of the tools folder. */
  folder: string;
  /** `<home>/cache/tool_discovery_cache.json`. Without it every file is parsed at every start. */
  cacheFile?: string;
  log: Log;
  importModule?: (url: string) => Promise<unknown>;
  /** Whether a file registers a tool at its top level. Default: by its syntax tree. */
  registersTool?: (path: string, source: string) => Promise<boolean>;
}

const cacheShape = z.record(
  z.string(),
  z.object({ mtimeNs: z.string(), size: z.string(), tool: z.boolean() }),
);
type VerdictCache = z.infer<typeof cacheShape>;

/**
 * Imports every file of the folder that registers a tool at its top level, in the order of the file names, and
 * returns their module names. Helpers are not imported. A module that fails to load is logged; the rest loads.
 */
export async function discoverTools(options: DiscoverOptions): Promise<string[]> {
  const importModule = options.importModule ?? ((url: string) => import(url));
  const imported: string[] = [];
  // One after the other: the order of registration decides who wins a collision.
  for (const path of await toolFiles(options)) {
    const { name } = parsePath(path);
    try {
      await importModule(pathToFileURL(path).href);
      imported.push(name);
    } catch (error) {
      options.log.error(
        { module: name, error: errorMessage(error) },
        `Tool module "${name}" could not be loaded and is left out. Mend it or remove it.`,
      );
    }
  }
  return imported;
}

async function toolFiles({
  folder,
  cacheFile,
  log,
  registersTool = bySyntaxTree,
}: DiscoverOptions): Promise<string[]> {
  const known = cacheFile === undefined ? {} : await readCache(cacheFile);
  const verdicts = await Promise.all(
    (await candidates(folder)).map(async (path) => {
      const { mtimeNs, size } = await stat(path, { bigint: true });
      const key = { mtimeNs: String(mtimeNs), size: String(size) };
      const cached = known[path];
      if (cached?.mtimeNs === key.mtimeNs && cached.size === key.size)
        return { path, ...cached, fresh: false };
      const tool = await judge(path, registersTool, log);
      return { path, ...key, tool, fresh: true };
    }),
  );
  const gone = Object.keys(known).length !== verdicts.length;
  if (cacheFile !== undefined && (gone || verdicts.some((verdict) => verdict.fresh))) {
    const entries = verdicts.map(({ path, mtimeNs, size, tool }) => [path, { mtimeNs, size, tool }]);
    await writeCache(cacheFile, Object.fromEntries(entries), log);
  }
  return verdicts.filter((verdict) => verdict.tool).map((verdict) => verdict.path);
}

async function candidates(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && /(?<!\.d|\.test)\.(?:ts|js|mjs)$/.test(entry.name))
    .filter((entry) => !skippedModules.has(parsePath(entry.name).name))
    .map((entry) => join(folder, entry.name))
    .sort();
}

/** A file that does not parse is worth an import: the import's error is logged with its reason. */
async function judge(
  path: string,
  registersTool: NonNullable<DiscoverOptions['registersTool']>,
  log: Log,
): Promise<boolean> {
  try {
    return await registersTool(path, await readFile(path, 'utf8'));
  } catch (error) {
    log.error({ path, error: errorMessage(error) }, 'A file of the tools folder could not be examined.');
    return false;
  }
}

async function bySyntaxTree(path: string, source: string): Promise<boolean> {
  if (!source.includes('registry')) return false;
  const { parseModule } = await import('./syntax-tree.ts');
  const { registersTool, errors } = await parseModule(path, source);
  return registersTool || errors.length > 0;
}

async function readCache(file: string): Promise<VerdictCache> {
  try {
    return cacheShape.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    return {}; // Missing or damaged: the verdicts are worked out again.
  }
}

async function writeCache(file: string, cache: VerdictCache, log: Log): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    const draft = `${file}.${process.pid}.tmp`;
    await writeFile(draft, JSON.stringify(cache), { mode: 0o600 });
    await rename(draft, file);
  } catch (error) {
    log.debug({ file, error: errorMessage(error) }, 'The cache of tool discovery could not be written.');
  }
}
