import { createEmbeddedQueue } from '../../src/queue/embedded.ts';
import { queueContract } from './queue-contract.ts';

queueContract('embedded', async (concurrency) =>
  createEmbeddedQueue({ concurrency, onError: () => undefined }),
);
