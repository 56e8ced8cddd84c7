import type { Messages } from './messages.ts';

const count = (n: number, one: string, many = `${one}s`) => `${n} ${n === 1 ? one : many}`;
const times = { once: 'once', session: 'for this session', always: 'always' } as const;

export const en: Messages = {
  card: {
    title: '⚠️ May I run this?',
    why: 'Why I ask',
    where: 'Where',
    reach: 'Would hit',
    reachUnknown: 'not known',
    askedBy: 'Asked by',
    remembers: 'Session / Always would allow',
    expiresIn: (minutes) => `Without an answer within ${count(minutes, 'minute')} it will not run.`,
    once: '✅ Once',
    session: '🔁 Session',
    always: '♾ Always',
    deny: '⛔ Deny',
    confirmAlways: 'Allow this from now on, without asking?',
    cancel: 'Cancel',
    denyReason: 'Why not? (optional, the agent reads it)',
    smartDenied: 'The automatic check advises against it.',
    tooLong: 'This is too long to show here in full, so it can only be denied.',
    place: (backend, cwd) => (backend === 'local' ? `this machine, in ${cwd}` : `${backend}, in ${cwd}`),
    outcome(words) {
      switch (words.kind) {
        case 'approved':
          return `✅ Approved ${times[words.choice]} by ${words.by}, ${words.time}`;
        case 'denied':
          return `⛔ Denied by ${words.by}, ${words.time}${words.reason ? `: ${words.reason}` : ''}`;
        case 'answered':
          return `✅ ${words.by}: ${words.answer}`;
        case 'expired':
          return '⌛ Expired without an answer. It did not run.';
        case 'superseded':
          return '↩️ Withdrawn: you wrote something else. It did not run.';
      }
    },
  },
  question: { title: '❓ A question', other: '✏️ Other…', otherHint: 'Or just type your answer.' },
  press: {
    notYours: (asker) => `Only ${asker} or an admin can decide this.`,
    already: 'This was decided already.',
    expired: 'This has expired; nothing ran.',
    unknown: 'This card is not known any more.',
    notOffered: 'This card does not offer that.',
    stranger: 'You are not allowed to use this bot.',
    approved: 'Approved.',
    denied: 'Denied.',
    answered: 'Thanks.',
    typeAnswer: 'Type your answer as a message.',
    notKept: (reason) => `"Always" could not be saved, so nothing was approved: ${reason}`,
  },
  busy: {
    interrupt: '↩️ I stop what I was doing and turn to your new message.',
    queue: (position) => `⏳ Still busy. Your message is next in line (${position}).`,
    steer: '🧭 Noted. I take it into what I am doing.',
    full: (limit) =>
      `I am busy and ${count(limit, 'message')} already wait, so this one was not taken. Send it again later.`,
  },
  turn: {
    budgetSpent:
      '(I stopped here: the number of steps allowed for one request is used up. Say "go on" to continue.)',
    emptyReply: 'The model gave no answer. Try again, or say it another way.',
    failed: (what, mend, errorId) => `⚠️ ${what}${mend ? ` ${mend}` : ''} (error ${errorId})`,
    gaveUp: (errorId) =>
      `⚠️ I was interrupted several times while working on this and set it aside. Send it again if you still need it. (error ${errorId})`,
    stalled: (errorId) =>
      `⚠️ Nothing moved for too long, so I gave this up. Send it again to retry. (error ${errorId})`,
    stopped: '⏹ Stopped.',
    longAnswer: (name) => `The whole answer is in ${name}.`,
    reset: (reason) =>
      reason === 'idle'
        ? '🕘 It has been a while, so this is a new conversation. /help tells what I can do.'
        : '🌅 A new day, a new conversation.',
    backOnline: '✅ Back online.',
    restarting: '🔄 Restarting. I go on with this afterwards.',
    fileMissing: (path) => `(I wanted to send ${path}, but cannot read it.)`,
    attachment: (name, path) => `[Attached file: ${name}, saved as ${path}]`,
    attachmentFailed: (name, why) => `[Attached file ${name} could not be fetched: ${why}]`,
    deliveryFailed: '⚠️ A part of my answer could not be delivered here.',
  },
  adapter: {
    thinking: 'is thinking…',
    prompts: [
      { title: 'What can you do?', message: 'What can you do, and which tools do you have here?' },
      { title: 'Catch me up', message: 'What is the state of your current work and what waits for me?' },
      { title: 'Remind me', message: 'Remind me tomorrow at 9:00 to ' },
    ],
    notInThisChannel: 'I am not available in this channel.',
    notStored: 'That could not be saved just now. Please try again in a moment.',
  },
  failures: new Map(),
  access: {
    pairing: (code, platform) =>
      `Hi! I do not know you yet. Ask the owner of this bot to run:\n\n\`hermes-gateway pair approve ${platform} ${code}\`\n\nThe code is valid for an hour.`,
  },
  commands: {
    about: {
      help: 'what I can do',
      new: 'begin a new conversation',
      reset: 'the same as /new',
      stop: 'stop what I am doing',
      status: 'what I am doing',
      approve: 'approve what waits: /approve [session|always|all]',
      deny: 'deny what waits: /deny [all|reason]',
      toolsets: 'which tools I have here',
      queue: 'do this after the present task: /queue TEXT',
      steer: 'take this into the present task: /steer TEXT',
      retry: 'answer your last message again',
      undo: 'take back your last message',
      usage: 'tokens used',
      whoami: 'who you are to me',
      sethome: 'make this chat the one for notices',
      approvals: 'what is always allowed (admins): /approvals [forget ENTRY]',
      restart: 'restart me (admins)',
    },
    unknown: (name) => `I do not know /${name}. /help lists the commands.`,
    busy: (name) => `I am busy; /${name} works once I am done, or after /stop.`,
    help: 'Write to me as you would to a colleague. Before I run something dangerous I ask, with buttons.',
    fresh: '✨ A new conversation.',
    stopped: ({ turn, processes, queued }) =>
      [
        turn ? '⏹ Stopped.' : '⏹',
        processes > 0 ? `${count(processes, 'background process', 'background processes')} ended.` : '',
        queued > 0 ? `${count(queued, 'waiting message')} dropped.` : '',
      ]
        .filter((part) => part !== '')
        .join(' '),
    nothingToStop: 'Nothing is running.',
    nothingPending: 'Nothing waits for a decision.',
    approvedCount: (n) => `✅ ${count(n, 'request')} approved.`,
    deniedCount: (n) => `⛔ ${count(n, 'request')} denied.`,
    status: (facts) =>
      [
        `**State** ${facts.state}`,
        `**Waiting messages** ${facts.queued}`,
        `**Pending approvals** ${facts.pending}`,
        `**Background processes** ${facts.processes}`,
        `**Model** ${facts.model}`,
        `**Up** ${facts.uptime}`,
        `**Session** \`${facts.session}\``,
      ].join('\n'),
    toolsets: (names, tools) => `${names}\n\n${count(tools, 'tool')} in all.`,
    queued: '⏳ In line.',
    steered: '🧭 Noted.',
    needsText: (name) => `Write it as /${name} TEXT.`,
    nothingToRetry: 'There is no message to answer again.',
    undone: (text) => `↩️ Taken back: "${text}"`,
    nothingToUndo: 'There is nothing to take back.',
    usage: (facts) =>
      `${count(facts.turns, 'model call')}, ${count(facts.inputTokens, 'input token')}, ${count(facts.outputTokens, 'output token')} in this chat.`,
    whoami: (facts) =>
      `You are ${facts.name}, id \`${facts.id}\` on ${facts.platform}${facts.admin ? ', an admin' : ''}.\nSession \`${facts.session}\``,
    homeSet: '🏠 Notices come here from now on.',
    adminsOnly: 'Only an admin can do this.',
    allowlist: (entries) =>
      entries.length === 0
        ? 'Nothing is always allowed.'
        : `Always allowed:\n${entries.map((entry) => `- \`${entry}\``).join('\n')}`,
    forgotten: (entry) => `Forgotten: \`${entry}\``,
    notFound: (entry) => `There is no entry \`${entry}\`.`,
  },
};
