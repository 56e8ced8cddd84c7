import { createHash } from 'node:crypto';
import { ServerError, Status } from 'nice-grpc';
import { z } from 'zod';
import { type GrpcMethod, method } from './strict-grpc.ts';
import type { EmulatedSandbox, ModalWorld } from './world.ts';

const tags = z.array(z.object({ tagName: z.string(), tagValue: z.string().default('') })).default([]);
const environmentName = z.string().optional();
const sandboxId = z.string();
/** GenericStatus: success, failure, terminated, timeout. */
const status = { success: 1, failure: 2, terminated: 3, timeout: 4 } as const;

const notFound = (what: string) => new ServerError(Status.NOT_FOUND, `${what} not found`);

/** The methods of Modal's API that making, finding and ending sandboxes needs. */
export function createControlPlane(
  world: ModalWorld,
  routerUrl: () => string,
): Readonly<Record<string, GrpcMethod>> {
  function known(id: string): EmulatedSandbox {
    const sandbox = world.sandboxes.get(id);
    if (sandbox === undefined) throw notFound(`Sandbox ${id}`);
    return sandbox;
  }

  const access = () => ({ jwt: world.routerToken, url: routerUrl() });
  const running = (name: string) =>
    [...world.sandboxes.values()].find((sandbox) => sandbox.name === name && sandbox.ended === null);

  return {
    authTokenGet: method({}, async () => ({ token: world.authToken })),
    environmentGetOrCreate: method({ deploymentName: environmentName }, async () => ({
      environmentId: 'en-emulated',
      metadata: { name: 'main', settings: { imageBuilderVersion: '2025.06', webhookSuffix: '' } },
    })),
    appGetOrCreate: method(
      { appName: z.string(), environmentName, objectCreationType: z.literal(1).optional() },
      async ({ appName, objectCreationType }) => {
        const found = world.apps.get(appName);
        if (found === undefined && objectCreationType !== 1) throw notFound(`App ${appName}`);
        world.apps.set(appName, found ?? `ap-${appName}`);
        return { appId: world.apps.get(appName) };
      },
    ),
    imageGetOrCreate: method(
      {
        appId: z.string(),
        image: z.strictObject({ dockerfileCommands: z.tuple([z.string().regex(/^FROM \S+$/)]) }),
        builderVersion: z.literal('2025.06'),
      },
      async ({ image }) => {
        const [from] = image.dockerfileCommands;
        const imageId = `im-${createHash('sha256').update(from).digest('hex').slice(0, 16)}`;
        if (from.includes('no-such-image')) {
          return { imageId, result: { status: status.failure, exception: `${from}: no such image` } };
        }
        world.images.set(imageId, { folder: null });
        return { imageId, result: { status: status.success } };
      },
    ),
    imageFromId: method({ imageId: z.string() }, async ({ imageId }) => {
      if (!world.images.has(imageId)) throw notFound(`Image ${imageId}`);
      return { imageId };
    }),
    sandboxCreateV2: method(
      {
        appId: z.string(),
        tags,
        definition: z.strictObject({
          name: z.string().max(63),
          imageId: z.string(),
          entrypointArgs: z.tuple([z.literal('sleep'), z.literal('infinity')]),
          timeoutSecs: z.number().max(86_400),
          idleTimeoutSecs: z.number().optional(),
          networkAccess: z.strictObject({ networkAccessType: z.literal(1) }),
          resources: z
            .strictObject({ milliCpu: z.number().optional(), memoryMb: z.number().optional() })
            .optional(),
        }),
      },
      async ({ definition, tags: given }) => {
        const { name, imageId, timeoutSecs, idleTimeoutSecs } = definition;
        if (!world.images.has(imageId)) throw notFound(`Image ${imageId}`);
        if (running(name)) throw new ServerError(Status.ALREADY_EXISTS, `Sandbox ${name} exists`);
        const limits = { timeoutSecs, idleTimeoutSecs, ...definition.resources };
        const made = await world.create({ name, imageId, tags: asMap(given), definition: limits });
        return { sandboxId: made.id, taskId: made.taskId, commandRouterAccess: access() };
      },
    ),
    sandboxGetTaskIdV2: method({ sandboxId, timeout: z.number().optional() }, async ({ sandboxId: id }) => {
      const { taskId, ended } = known(id);
      return ended === null ? { taskId } : { taskResult: resultOf(ended) };
    }),
    sandboxGetFromNameV2: method(
      { sandboxName: z.string(), appName: z.string(), environmentName },
      async ({ sandboxName }) => {
        const found = running(sandboxName);
        if (found === undefined) throw notFound(`Sandbox ${sandboxName}`);
        return { sandboxId: found.id };
      },
    ),
    // Asked for what the newer kind of sandbox does not have.
    sandboxGetFromName: method(
      { sandboxName: z.string(), appName: z.string(), environmentName },
      async ({ sandboxName }) => {
        throw notFound(`Sandbox ${sandboxName}`);
      },
    ),
    sandboxWaitV2: method({ sandboxId, timeout: z.number().optional() }, async ({ sandboxId: id }) => {
      const { ended } = known(id);
      return ended === null ? {} : { result: resultOf(ended) };
    }),
    sandboxTerminateV2: method({ sandboxId }, async ({ sandboxId: id }) => {
      await world.end(known(id).id, 'terminated');
      return {};
    }),
    sandboxListV2: method(
      { appId: z.string(), tags, beforeTimestamp: z.number().optional() },
      async ({ tags: wanted, beforeTimestamp = Number.POSITIVE_INFINITY }) => {
        const found = [...world.sandboxes.values()].filter(
          (sandbox) =>
            sandbox.ended === null &&
            sandbox.createdAt < beforeTimestamp &&
            wanted.every(({ tagName, tagValue }) => sandbox.tags.get(tagName) === tagValue),
        );
        // In pages of one, newest first: the next page is asked for by the time of the last one.
        const [next] = found.toSorted((a, b) => b.createdAt - a.createdAt);
        return { sandboxes: next === undefined ? [] : [{ id: next.id, createdAt: next.createdAt }] };
      },
    ),
    sandboxTagsSetV2: method({ sandboxId, tags }, async ({ sandboxId: id, tags: given }) => {
      known(id).tags = asMap(given);
      return {};
    }),
    sandboxTagsGetV2: method({ sandboxId }, async ({ sandboxId: id }) => ({
      tags: [...known(id).tags].map(([tagName, tagValue]) => ({ tagName, tagValue })),
    })),
    sandboxGetCommandRouterAccess: method({ sandboxId }, async ({ sandboxId: id }) => {
      known(id);
      return access();
    }),
  };
}

const asMap = (given: z.output<typeof tags>) =>
  new Map(given.map(({ tagName, tagValue }) => [tagName, tagValue] as const));

const resultOf = (ended: NonNullable<EmulatedSandbox['ended']>) => ({
  status: ended === 'terminated' ? status.terminated : status.timeout,
});
