/** Small JSON values by owner and key: what an adapter or a feature must remember across restarts. */
export interface MemoryTable {
  get(owner: string, key: string): Promise<unknown>;
  set(owner: string, key: string, value: unknown): Promise<void>;
  delete(owner: string, key: string): Promise<void>;
  list(owner: string, prefix: string): Promise<{ key: string; value: unknown }[]>;
}
