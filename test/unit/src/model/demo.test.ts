import { describe, expect, test } from 'vitest';
import { createDemoModel } from '../../../../src/model/demo.ts';
import type { ChatMessage, ModelReply } from '../../../../src/model/model-client.ts';

const tools = ['terminal', 'read_file', 'write_file', 'search_files'].map((name) => ({
  type: 'function' as const,
  function: { name, description: '', parameters: {} },
}));

async function ask(
  messages: readonly ChatMessage[],
  offered = tools,
): Promise<ModelReply & { streamed: string }> {
  let streamed = '';
  const reply = await createDemoModel().complete({
    messages,
    tools: offered,
    signal: new AbortController().signal,
    onText: (delta) => {
      streamed += delta;
    },
  });
  return { ...reply, streamed };
}

const user = (content: string): ChatMessage => ({ role: 'user', content });

async function callFor(said: string): Promise<unknown> {
  const [call] = (await ask([user(said)])).toolCalls;
  return call === undefined ? null : { [call.name]: JSON.parse(call.arguments) };
}

/** The conversation after the first call of `said` came back with this result. */
function resumed(said: string, ...results: object[]): ChatMessage[] {
  return [
    user(said),
    ...results.flatMap((result, index): ChatMessage[] => [
      { role: 'assistant', content: '', toolCalls: [{ id: `c${index}`, name: 'terminal', arguments: '{}' }] },
      { role: 'tool', toolCallId: `c${index}`, content: JSON.stringify(result) },
    ]),
  ];
}

describe('a plain request becomes a tool call', () => {
  test.each([
    ['run ls -la', { terminal: { command: 'ls -la' } }],
    ['Please run the command: `npm test`', { terminal: { command: 'npm test' } }],
    ['$ git status', { terminal: { command: 'git status' } }],
    ['выполни команду uname -a', { terminal: { command: 'uname -a' } }],
    ['delete the folder build', { terminal: { command: 'rm -r build' } }],
    ['Delete the build folder.', { terminal: { command: 'rm -r build' } }],
    ['Удали папку build', { terminal: { command: 'rm -r build' } }],
    ['delete the folder "my things"', { terminal: { command: "rm -r 'my things'" } }],
    ['delete the file notes.txt', { terminal: { command: 'rm notes.txt' } }],
    ['удали файл notes.txt', { terminal: { command: 'rm notes.txt' } }],
    ['list files', { terminal: { command: 'ls -la' } }],
    ['show me the files in src', { terminal: { command: 'ls -la src' } }],
    ['покажи файлы в папке src', { terminal: { command: 'ls -la src' } }],
    ['read notes.txt', { read_file: { path: 'notes.txt' } }],
    ['прочитай файл notes.txt', { read_file: { path: 'notes.txt' } }],
    ['write "hello there" to notes.txt', { write_file: { path: 'notes.txt', content: 'hello there\n' } }],
    ['create a file a.txt with the text: hi', { write_file: { path: 'a.txt', content: 'hi\n' } }],
    ['запиши «привет» в файл a.txt', { write_file: { path: 'a.txt', content: 'привет\n' } }],
    ['search for TODO (now) in src', { search_files: { pattern: 'TODO \\(now\\)', path: 'src' } }],
    ['find files *.ts', { search_files: { pattern: '*.ts', target: 'files' } }],
    ['найди TODO в src', { search_files: { pattern: 'TODO', path: 'src' } }],
  ])('%s', async (said, call) => {
    expect(await callFor(said)).toEqual(call);
  });

  test('with a name that could be an option or another command kept a name', async () => {
    expect(await callFor('delete the folder -rf; reboot')).toEqual({
      terminal: { command: "rm -r './-rf; reboot'" },
    });
    expect(await callFor("delete the folder it's")).toBeNull();
  });

  test('behind a sender’s name and notes of the gateway', async () => {
    expect(await callFor('[A new session began.]\n\nAnn Lee: list files')).toEqual({
      terminal: { command: 'ls -la' },
    });
  });
});

describe('after a result', () => {
  test('it shows the output', async () => {
    const reply = await ask(resumed('run echo hi', { output: 'hi\n', exit_code: 0, error: null }));
    expect(reply).toMatchObject({
      text: '`echo hi` says:\n\n```\nhi\n```',
      toolCalls: [],
      finishReason: 'stop',
    });
    expect(reply.streamed).toBe(reply.text);
  });

  test('it says when there is no output', async () => {
    expect((await ask(resumed('delete the folder build', { output: '', exit_code: 0 }))).text).toBe(
      'Done: `rm -r build`. It printed nothing.',
    );
  });

  test('it tells a denial and its reason, without what is meant for models', async () => {
    const error =
      'BLOCKED: denied by Ann. Their reason: not today. Do not retry it, rephrase it or go around.';
    const { text } = await ask(
      resumed('delete the folder build', { output: '', exit_code: -1, error, status: 'blocked' }),
    );
    expect(text).toBe('I did not run `rm -r build`. Denied by Ann. Their reason: not today.');
  });

  test('it tells a failure', async () => {
    expect((await ask(resumed('run false', { output: '', exit_code: 1, error: null }))).text).toContain(
      'exit code 1',
    );
    expect((await ask(resumed('read x', { error: 'x does not exist.' }))).text).toBe(
      '`x` did not work: x does not exist.',
    );
  });

  test('it goes on with the next step, and stops where one failed', async () => {
    const said = 'run mkdir a, then list files';
    const ok = { output: '', exit_code: 0 };
    expect((await ask(resumed(said, ok))).toolCalls).toMatchObject([{ arguments: '{"command":"ls -la"}' }]);
    expect((await ask(resumed(said, ok, { output: 'a', exit_code: 0 }))).toolCalls).toEqual([]);
    expect((await ask(resumed(said, { output: 'no', exit_code: 1 }))).toolCalls).toEqual([]);
  });

  test('a newer message is what counts', async () => {
    const messages = [...resumed('run ls', { output: 'x', exit_code: 0 }), user('help')];
    expect((await ask(messages)).text).toContain('built-in demo model');
  });
});

describe('honesty', () => {
  test.each(['help', 'What can you do?', 'Write me a poem', 'Привет'])(
    '%s: it says what it is',
    async (said) => {
      expect((await ask([user(said)])).text).toMatch(/I'm the built-in demo model|Я встроенная демо-модель/);
    },
  );

  test('a text far too long for a plain request is not even tried', async () => {
    const startedAt = performance.now();
    expect(await callFor(`search ${'a in '.repeat(200_000)}`)).toBeNull();
    expect(performance.now() - startedAt).toBeLessThan(500);
  });

  test('half of a request is not done', async () => {
    expect(await callFor('run ls, then think about it')).toBeNull();
  });

  test('a tool that is not enabled is named', async () => {
    expect((await ask([user('list files')], [])).text).toContain('terminal');
  });

  test('a call that was cancelled before is refused as cancelled', async () => {
    const signal = AbortSignal.abort();
    const outcome = createDemoModel().complete({ messages: [user('help')], tools, signal });
    await expect(outcome).rejects.toMatchObject({ code: 'cancelled' });
  });
});
