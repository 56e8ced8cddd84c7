/** Plain nested data, addressed by dotted paths such as `approvals.timeout`. */
export type Tree = Record<string, unknown>;

export function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function getPath(tree: Tree, path: string): unknown {
  let value: unknown = tree;
  for (const key of path.split('.')) {
    if (!isTree(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}

/** Sets a value, making the blocks on the way. What stands in the way of a block is left alone, and nothing is set. */
export function setPath(tree: Tree, path: string, value: unknown): void {
  const keys = path.split('.');
  const last = keys.pop();
  if (last === undefined) return;
  let block = tree;
  for (const key of keys) {
    const next = Object.hasOwn(block, key) ? block[key] : undefined;
    if (next !== undefined && !isTree(next)) return;
    block = next ?? defineBlock(block, key);
  }
  block[last] = value;
}

function defineBlock(parent: Tree, key: string): Tree {
  const made: Tree = {};
  parent[key] = made;
  return made;
}

/** Takes a value out and returns it. */
export function takePath(tree: Tree, path: string): unknown {
  const value = getPath(tree, path);
  const dot = path.lastIndexOf('.');
  const parent = dot === -1 ? tree : getPath(tree, path.slice(0, dot));
  if (isTree(parent)) delete parent[path.slice(dot + 1)];
  return value;
}

/** Rebuilds the data with every leaf replaced; `undefined` drops the key or the item. */
export function mapLeaves(
  value: unknown,
  change: (leaf: unknown, path: string) => unknown,
  path = '',
): unknown {
  if (Array.isArray(value)) {
    return value
      .map((item, index) => mapLeaves(item, change, `${path}.${index}`))
      .filter((item) => item !== undefined);
  }
  if (!isTree(value)) return change(value, path);
  const pairs = Object.entries(value).map(
    ([key, item]) => [key, mapLeaves(item, change, path === '' ? key : `${path}.${key}`)] as const,
  );
  return Object.fromEntries(pairs.filter(([, item]) => item !== undefined));
}
