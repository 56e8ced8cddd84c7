import type { ProcessRow, ProcessStore } from '../../../../tools/environments/process-table.ts';

/** Keeps copies of rows, as a database would. */
export function memoryProcessStore(): ProcessStore & { rows: Map<string, ProcessRow> } {
  const rows = new Map<string, ProcessRow>();
  return {
    rows,
    async save(row) {
      rows.set(row.id, structuredClone(row));
    },
    load: async () => [...rows.values()].map((row) => structuredClone(row)),
    async remove(id) {
      rows.delete(id);
    },
  };
}
