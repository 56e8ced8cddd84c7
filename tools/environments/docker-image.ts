import type Docker from 'dockerode';
import { errorMessage, GatewayError } from '../../src/errors.ts';
import { ask, statusOf } from './docker-engine.ts';

export interface PullOptions {
  /** For people. */
  onProgress?: ((text: string) => void) | undefined;
  /** At most one text in so many milliseconds. */
  everyMs?: number;
  /** A pull that says nothing for so long is given up. */
  silenceMs?: number;
}

const usualEveryMs = 5_000;
const usualSilenceMs = 180_000;

/** The image is on the engine's machine, pulled if it was not. Rejects with a `GatewayError` that tells the mend. */
export async function ensureImage(engine: Docker, image: string, options: PullOptions = {}): Promise<void> {
  const isThere = await ask('look for the image', engine.getImage(image).inspect()).then(
    () => true,
    (error) => {
      if (statusOf(error) === 404) return false;
      throw error;
    },
  );
  if (isThere) return;
  options.onProgress?.(`Pulling the image ${image} …`);
  const stream = await ask('pull the image', engine.pull(image)).catch((error) => {
    throw cannotPull(image, error);
  });
  await followPull(engine, image, stream, options);
  options.onProgress?.(`The image ${image} is pulled.`);
}

/** Engine API: ImageCreate. What is read of each line. */
interface PullEvent {
  id?: string;
  status?: string;
  progressDetail?: { current?: number | undefined; total?: number | undefined };
  /** The pull failed; the stream ends as any other. */
  error?: string;
}

function followPull(
  engine: Docker,
  image: string,
  stream: NodeJS.ReadableStream,
  { onProgress, everyMs = usualEveryMs, silenceMs = usualSilenceMs }: PullOptions,
): Promise<void> {
  const told = createPullText();
  let failure: Error | null = null;
  let toldAt = Date.now();
  return new Promise((resolve, reject) => {
    const silence = setTimeout(() => {
      const text = `it has said nothing for ${silenceMs / 1_000} s`;
      if ('destroy' in stream && typeof stream.destroy === 'function') stream.destroy();
      reject(cannotPull(image, new Error(text)));
    }, silenceMs);
    const onEvent = (event: PullEvent) => {
      silence.refresh();
      if (event.error !== undefined) failure = new Error(event.error);
      const text = told(event);
      if (text === null || Date.now() - toldAt < everyMs) return;
      toldAt = Date.now();
      onProgress?.(`Pulling ${image}: ${text}`);
    };
    const onEnd = (error: Error | null) => {
      clearTimeout(silence);
      const reason = error ?? failure;
      if (reason === null) resolve();
      else reject(cannotPull(image, reason));
    };
    engine.modem.followProgress(stream, onEnd, onEvent);
  });
}

const doneStates: ReadonlySet<string> = new Set(['Pull complete', 'Already exists', 'Download complete']);

/** Sums up the layers: what one line says of one of them tells nobody how long it will take. */
export function createPullText(): (event: PullEvent) => string | null {
  const layers = new Map<string, { current: number; total: number; isDone: boolean }>();
  return ({ id, status = '', progressDetail = {} }) => {
    if (id === undefined || status.startsWith('Pulling from')) return null;
    const layer = layers.get(id) ?? { current: 0, total: 0, isDone: false };
    layers.set(id, layer);
    const { current, total } = progressDetail;
    if (status === 'Downloading' && total !== undefined && current !== undefined) {
      Object.assign(layer, { current, total });
    }
    if (doneStates.has(status)) Object.assign(layer, { current: layer.total, isDone: true });
    const all = [...layers.values()];
    const sum = (of: 'current' | 'total') => all.reduce((bytes, each) => bytes + each[of], 0);
    const done = all.filter(({ isDone }) => isDone).length;
    const bytes = sum('total') === 0 ? '' : `, ${megabytes(sum('current'))} of ${megabytes(sum('total'))} MB`;
    return `${done} of ${all.length} layers${bytes}`;
  };
}

const megabytes = (bytes: number) => (bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0);

function cannotPull(image: string, error: unknown): GatewayError {
  const reason = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return new GatewayError(
    'environment_unavailable',
    `The image ${image} cannot be pulled: ${errorMessage(reason)}`,
    {
      mend: 'Check the name in terminal.docker_image and the network, or build the image on this machine.',
      cause: error,
    },
  );
}
