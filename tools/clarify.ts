import { z } from 'zod';
import { registry } from './registry.ts';
import { toolError } from './results.ts';

const maxChoices = 4;

/** Models send choices as objects now and then; the field that a person would read is taken. */
const choice = z.union([
  z.string(),
  z
    .record(z.string(), z.unknown())
    .transform(
      (fields) => ['label', 'description', 'text', 'title'].map((name) => fields[name]).find(isText) ?? '',
    ),
]);

const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== '';

const args = z.object({
  question: z.string().trim().min(1).describe('One question, in plain words'),
  choices: z
    .array(choice)
    .default([])
    .transform((choices) =>
      [...new Set(choices.map((each) => each.trim()).filter(Boolean))].slice(0, maxChoices),
    )
    .describe(`Up to ${maxChoices} answers to choose from; the user may always answer in their own words`),
});

registry.register({
  name: 'clarify',
  toolset: 'clarify',
  emoji: '❓',
  schema: {
    description:
      'Asks the user a question and waits for the answer. Use it only when the task cannot be done well without it, never to ask for permission: dangerous actions ask by themselves.',
    parameters: args,
  },
  question: (asked) => asked,
  // Reached only where nobody can be asked: the agent loop parks on the question instead of running this.
  handler: () =>
    toolError(
      'clarify cannot be used in this context: nobody is there to answer. Decide yourself and say what you assumed.',
    ),
  concurrency: 'exclusive',
  timeoutMs: null,
});
