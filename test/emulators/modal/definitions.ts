import { registerHooks } from 'node:module';
import type { CompatServiceDefinition } from 'nice-grpc';
import { z } from 'zod';

/**
 * Modal's services as its own library describes them: it has the definitions inside, and keeps them to itself. A
 * second copy of the library is loaded that gives them out.
 */
const query = '?definitions';
const names = ['ModalClientDefinition', 'TaskCommandRouterDefinition'] as const;

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    if (!url.endsWith(query)) return loaded;
    return { ...loaded, source: `${String(loaded.source)}\nexport { ${names.join(', ')} };` };
  },
});

const isService = (value: unknown) => typeof value === 'object' && value !== null && 'methods' in value;
const service = z.custom<CompatServiceDefinition & { methods: Record<string, unknown> }>(isService);
const shape = z.object({ ModalClientDefinition: service, TaskCommandRouterDefinition: service });

export async function modalDefinitions(): Promise<z.infer<typeof shape>> {
  const library = new URL('../../../node_modules/modal/dist/index.js', import.meta.url);
  return shape.parse({ ...(await import(library.href + query)) });
}
