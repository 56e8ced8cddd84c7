import { defineConfig } from 'vitest/config';

/** One project a kind of test, so that `npm test` can run them in order and alone. */
export default defineConfig({
  test: {
    projects: ['unit', 'contracts', 'integration', 'e2e', 'chaos'].map((name) => ({
      test: {
        name,
        include: [`test/${name}/**/*.test.ts`],
        testTimeout: name === 'unit' ? 10_000 : 60_000,
        hookTimeout: 60_000,
        fileParallelism: name === 'unit',
        maxWorkers: 2,
      },
    })),
  },
});
