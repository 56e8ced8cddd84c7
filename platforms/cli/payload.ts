import { z } from 'zod';
import { GatewayError } from '../../src/errors.ts';
import type { OutboundContent, Payload } from '../platform.ts';
import { safeForTerminal } from './terminal-text.ts';

const choice = z.object({ id: z.string(), label: z.string(), isDenial: z.boolean() });
/** A button of a card, as an answer that can be typed. */
export type Choice = z.infer<typeof choice>;

/** A run of a card's text; `marked` is the part that is dangerous. */
const line = z.object({
  style: z.enum(['plain', 'bold', 'dim', 'marked']),
  text: z.string(),
});
export type Line = z.infer<typeof line>;

const cliPayload = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('text'), text: z.string() }),
  z.object({ kind: z.literal('progress'), lines: z.array(z.string()) }),
  z.object({ kind: z.literal('card'), lines: z.array(z.array(line)), choices: z.array(choice) }),
  z.object({ kind: z.literal('file'), name: z.string(), path: z.string(), caption: z.string() }),
]);
export type CliPayload = z.infer<typeof cliPayload>;

export function parsePayload(payload: Payload): CliPayload {
  const parsed = cliPayload.safeParse(payload);
  if (!parsed.success) {
    throw new GatewayError(
      'platform_refused',
      `The terminal cannot show this payload: ${parsed.error.message}`,
    );
  }
  return parsed.data;
}

export function renderCli(content: OutboundContent): Payload[] {
  return [{ ...payloadOf(content) }];
}

function payloadOf(content: OutboundContent): CliPayload {
  switch (content.kind) {
    case 'text':
      return { kind: 'text', text: safeForTerminal(content.markdown) };
    case 'progress':
      return { kind: 'progress', lines: content.lines.map(safeForTerminal) };
    case 'file': {
      const { name, path, caption = '' } = content;
      return {
        kind: 'file',
        name: safeForTerminal(name),
        path: safeForTerminal(path),
        caption: safeForTerminal(caption),
      };
    }
    case 'card':
      return cardPayload(content);
  }
}

function cardPayload({ card }: Extract<OutboundContent, { kind: 'card' }>): CliPayload {
  const footer: Line[][] =
    card.footer === undefined ? [] : [[{ style: 'dim', text: safeForTerminal(card.footer) }]];
  return {
    kind: 'card',
    lines: [
      [{ style: 'bold', text: safeForTerminal(card.title) }],
      ...card.blocks.flatMap(blockLines),
      ...footer,
    ],
    choices: card.buttons.flat().map(({ id, label, style }) => ({
      id,
      label: safeForTerminal(label),
      isDenial: style === 'danger',
    })),
  };
}

type Block = Extract<OutboundContent, { kind: 'card' }>['card']['blocks'][number];

function blockLines(block: Block): Line[][] {
  switch (block.kind) {
    case 'text':
      return [[{ style: 'plain', text: safeForTerminal(block.text) }]];
    case 'facts':
      return block.facts.map(({ label, text }) => [
        { style: 'dim', text: `${safeForTerminal(label)}: ` },
        { style: 'plain', text: safeForTerminal(text) },
      ]);
    case 'code':
      return [codeRuns(block.text, block.marks ?? [])];
  }
}

function codeRuns(text: string, marks: readonly { start: number; end: number }[]): Line[] {
  const runs: Line[] = [{ style: 'plain', text: '    ' }];
  const add = (style: Line['style'], part: string) => {
    if (part !== '') runs.push({ style, text: safeForTerminal(part).replaceAll('\n', '\n    ') });
  };
  let at = 0;
  for (const { start, end } of [...marks].sort((left, right) => left.start - right.start)) {
    if (start < at) continue;
    add('plain', text.slice(at, start));
    add('marked', text.slice(start, end));
    at = end;
  }
  add('plain', text.slice(at));
  return runs;
}
