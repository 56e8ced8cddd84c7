import type { Client } from 'ssh2';

/**
 * Connections and their channels. A server allows ten channels on a connection (sshd_config, MaxSessions), so
 * commands take turns on one connection, while background processes, which stay, get connections of their own.
 */
export interface SshPool {
  /** For a command: waits for its turn. For a process that stays: opens another connection when all are full. */
  take(use: 'command' | 'background'): Promise<{ client: Client; done(): void }>;
  /** The connection of commands, past the queue: for what must not wait, such as a kill or a file. */
  main(): Promise<Client>;
  close(): void;
}

const channelsPerConnection = 7;

interface Link {
  client: Promise<Client>;
  used: number;
}

export function createSshPool(connect: () => Promise<Client>): SshPool {
  let commands: Link | null = null;
  const background: Link[] = [];
  const waiting: (() => void)[] = [];
  let closed = false;

  function open(onGone: (link: Link) => void): Link {
    const link: Link = { client: connect(), used: 0 };
    link.client.then(
      (client) => {
        if (closed) client.end();
        client.once('close', () => onGone(link));
      },
      () => onGone(link),
    );
    return link;
  }

  function commandLink(): Link {
    commands ??= open((link) => {
      if (commands === link) commands = null;
      for (const wake of waiting.splice(0)) wake();
    });
    return commands;
  }

  function backgroundLink(): Link {
    let link = background.find(({ used }) => used < channelsPerConnection);
    if (link === undefined) {
      link = open(drop);
      background.push(link);
    }
    link.used += 1;
    return link;
  }

  /** Out of the list first: nobody may take a connection that is about to end. */
  function retire(link: Link): void {
    drop(link);
    link.client.then((client) => client.end()).catch(() => undefined);
  }

  function drop(link: Link): void {
    const index = background.indexOf(link);
    if (index >= 0) background.splice(index, 1);
  }

  async function turn(): Promise<Link> {
    let link = commandLink();
    while (link.used >= channelsPerConnection) {
      await new Promise<void>((resolve) => waiting.push(resolve));
      link = commandLink();
    }
    // At once: whoever asks next must see it taken.
    link.used += 1;
    return link;
  }

  return {
    async take(use) {
      const link = use === 'command' ? await turn() : backgroundLink();
      let isDone = false;
      const done = () => {
        if (isDone) return;
        isDone = true;
        link.used -= 1;
        waiting.shift()?.();
        if (use === 'background' && link.used === 0) retire(link);
      };
      try {
        return { client: await link.client, done };
      } catch (error) {
        done();
        throw error;
      }
    },
    main: () => commandLink().client,
    close() {
      closed = true;
      for (const link of [commands, ...background])
        link?.client.then((client) => client.end()).catch(() => undefined);
    },
  };
}
