import { z } from 'zod';
import { type Effects, joinEffects } from '../effects.ts';
import { markdownLinks } from '../markdown-links.ts';
import { messageBody, pings } from './message-body.ts';
import type { Call } from './route.ts';
import type { World } from './world.ts';

/** Where a message stands in the body of a call: by itself, in a new post, in the answer to an interaction. */
const around = z.looseObject({ message: z.unknown().optional(), data: z.unknown().optional() });

/** What every text of a call does. A thread's name is shown as it is. */
export function effectsOfCall({ body }: Pick<Call, 'body'>, world: World): Effects {
  const outer = around.safeParse(body).data;
  return joinEffects([body, outer?.message, outer?.data].map((part) => effectsOfBody(part, world)));
}

function effectsOfBody(part: unknown, world: World): Effects {
  const body = messageBody.safeParse(part).data;
  if (body === undefined) return { pings: [], links: [] };
  const texts = [
    body.content ?? '',
    ...(body.embeds ?? []).flatMap(({ title = '', description = '' }) => [title, description]),
  ];
  return { pings: pings(body, world, undefined), links: texts.flatMap(markdownLinks) };
}
