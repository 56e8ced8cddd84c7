import { has, isVia, operands, optionValues, type SimpleCommand } from '../shell/command.ts';
import { own } from '../shell/own.ts';
import { shown, Taint } from '../shell/value.ts';
import { signals9 } from './machine.ts';
import { names, type Rule } from './rule.ts';

const ENGINES = [
  'docker',
  'podman',
  'nerdctl',
  'docker-compose',
  'podman-compose',
  'lxc',
  'incus',
  'ctr',
  'colima',
];
const ENGINE_VALUED = [
  '-H',
  '--host',
  '-c',
  '--context',
  '--config',
  '--file',
  '--project-name',
  '--project-directory',
  '--profile',
  '--env-file',
  '-l',
  '--log-level',
  '-t',
  '--time',
  '-s',
  '--signal',
];
const STOPS =
  /^(?:stop|restart|try-restart|reload-or-restart|kill|disable|mask|rm|delete|remove|force-reload|condrestart)$/;

/** `-f` names a file to compose and means force to the rest. */
function engineOperands(command: SimpleCommand) {
  const compose =
    command.program.endsWith('-compose') || command.args.some((word) => word.text === 'compose');
  return operands(command, compose ? [...ENGINE_VALUED, '-f', '-p'] : ENGINE_VALUED);
}

const verbs = (command: SimpleCommand) => engineOperands(command).map((word) => word.text);

function engineVerb(command: SimpleCommand): string {
  const found = verbs(command);
  if (command.program.endsWith('-compose')) return `compose ${found[0] ?? ''}`;
  return /^(?:compose|container|image|volume|network|system|builder|buildx|swarm|service|stack|node|pod|machine|secret|config|context|plugin|stack)$/.test(
    found[0] ?? '',
  )
    ? `${found[0]} ${found[1] ?? ''}`
    : (found[0] ?? '');
}

function stopsEngine(command: SimpleCommand): boolean {
  const verb = engineVerb(command);
  if (/prune$/.test(verb)) return !has(command, '', 'dry-run');
  if (/^(?:container |compose |pod )?(?:stop|restart|kill)$/.test(verb) || /^compose (?:down|rm)$/.test(verb))
    return true;
  if (/^(?:container |pod |image )?(?:rm|rmi|remove|delete)$/.test(verb))
    return command.program === 'lxc' || command.program === 'incus' || has(command, 'f', 'force');
  return (
    /^(?:volume|network|stack|service|secret|config|node|context) (?:rm|remove|prune)$/.test(verb) ||
    /^swarm leave$|^machine (?:rm|stop|reset)$|^node demote$/.test(verb) ||
    (command.program === 'colima' && /^(?:stop|delete)$/.test(verb))
  );
}

function subjectNames(command: SimpleCommand): string[] {
  const found = verbs(command);
  const skip = engineVerb(command).split(' ').length - (command.program.endsWith('-compose') ? 1 : 0);
  return engineOperands(command).slice(Math.min(skip, found.length)).map(shown);
}

const HOST_MOUNT =
  /^(?:\/|\/etc|\/root|\/home|\/usr|\/var|\/var\/run\/docker\.sock|\/run\/docker\.sock|\/var\/run|\/run|\/proc|\/sys|\/dev|\/boot|\/run\/podman\/podman\.sock|\/var\/run\/crio.*|\/run\/containerd.*)\/?$/;

function reachesHost(command: SimpleCommand): boolean {
  if (!/^(?:container )?(?:run|create|exec)$|^compose run$/.test(engineVerb(command))) return false;
  if (
    command.args.some(
      (word) =>
        word.text === '--privileged' ||
        /^--(?:pid|ipc|uts|userns)=host$|^--cap-add[= ]?(?:ALL|SYS_ADMIN)$|^--security-opt=?(?:apparmor|seccomp)[:=]unconfined$/.test(
          word.text,
        ),
    )
  )
    return true;
  if (
    command.args.some(
      (word, index) =>
        /^--(?:pid|ipc|cap-add|userns)$/.test(word.text) &&
        /^(?:host|ALL|SYS_ADMIN)$/.test(command.args[index + 1]?.text ?? ''),
    )
  )
    return true;
  const mounts = [
    ...optionValues(command, '-v', '--volume').map((word) => word.text.split(':')[0] ?? ''),
    ...optionValues(command, '--mount').map((word) => /(?:source|src)=([^,]+)/.exec(word.text)?.[1] ?? ''),
  ];
  return mounts.some((source) => HOST_MOUNT.test(source));
}

const MANAGERS: Readonly<Record<string, RegExp>> = {
  systemctl: STOPS,
  service: STOPS,
  'rc-service': STOPS,
  'rc-update': /^(?:del|delete)$/,
  launchctl: /^(?:stop|unload|bootout|kickstart|remove|disable|kill)$/,
  sc: /^(?:stop|delete|config)$/,
  'sc.exe': /^(?:stop|delete|config)$/,
  supervisorctl: /^(?:stop|restart|remove|shutdown|reload|update)$/,
  pm2: /^(?:stop|restart|delete|del|kill|reload|flush)$/,
  sv: /^(?:stop|down|restart|kill|force-stop|force-restart|exit)$/,
  's6-svc': /^-/,
  initctl: /^(?:stop|restart)$/,
  monit: /^(?:stop|restart|unmonitor)$/,
  brew: /^services$/,
  snap: /^(?:stop|restart|disable)$/,
  'invoke-rc.d': STOPS,
  'update-rc.d': /^(?:remove|disable)$/,
  apachectl: /^(?:stop|restart|graceful-stop)$/,
  apache2ctl: /^(?:stop|restart|graceful-stop)$/,
  pg_ctl: /^(?:stop|restart|kill)$/,
  nginx: /^(?:stop|quit)$/,
  minikube: /^(?:stop|delete)$/,
  kind: /^delete$/,
  vagrant: /^(?:destroy|halt)$/,
  multipass: /^(?:delete|stop|purge)$/,
  virsh: /^(?:destroy|undefine|shutdown|reset)$/,
};

function stopsService(command: SimpleCommand): boolean {
  const pattern = own(MANAGERS, command.program);
  if (pattern === undefined) return false;
  const texts = operands(command, ['-H', '-M', '--host', '-D', '-m', '-t', '-c', '-s']).map(
    (word) => word.text,
  );
  if (command.program === 'brew')
    return texts[0] === 'services' && /^(?:stop|restart|kill)$/.test(texts[1] ?? '');
  if (command.program === 'nginx')
    return optionValues(command, '-s').some((word) => /^(?:stop|quit)$/.test(word.text));
  if (command.program === 'kickstart' || (command.program === 'launchctl' && texts[0] === 'kickstart'))
    return has(command, 'k');
  if (/^(?:service|rc-service|invoke-rc\.d|update-rc\.d|rc-update)$/.test(command.program))
    return texts.slice(0, 3).some((text) => pattern.test(text));
  if (command.program === 's6-svc') return command.args.some((word) => /^-[dkrtx]/.test(word.text));
  return pattern.test(texts[0] ?? '');
}

/** What `pkill` and `killall` name: their pattern without options. */
function killPattern(command: SimpleCommand): string[] {
  return operands(command, ['-u', '-U', '-g', '-G', '-P', '-s', '-t', '--signal', '-F']).map(shown);
}

export const SERVICE_RULES: readonly Rule[] = [
  {
    key: 'service',
    verdict: 'dangerous',
    description: 'stops, restarts or disables a service',
    programs: Object.keys(MANAGERS),
    match: stopsService,
    subject: (command) =>
      names(
        `${command.program} ${operands(command).find((word) => STOPS.test(word.text))?.text ?? operands(command)[0]?.text ?? ''}`.trim(),
        operands(command)
          .filter((word) => !STOPS.test(word.text))
          .map(shown),
      ),
    examples: {
      must: [
        'systemctl stop nginx',
        'sudo service apache2 restart',
        'pm2 delete all',
        'launchctl unload x.plist',
        'supervisorctl restart x',
      ],
      mustNot: [
        'systemctl status nginx',
        'systemctl start nginx',
        'systemctl enable x',
        'service nginx status',
        'pm2 list',
      ],
    },
  },
  {
    key: 'service',
    verdict: 'dangerous',
    description: 'stops or removes containers, images or volumes',
    programs: ENGINES,
    match: stopsEngine,
    subject: (command) => names(`${command.program} ${engineVerb(command)}`, subjectNames(command)),
    examples: {
      must: [
        'docker stop web',
        'docker compose down',
        'docker system prune',
        'docker rm -f web',
        'docker volume rm x',
        'docker rmi -f x',
        'docker-compose -f a.yml down -v',
      ],
      mustNot: [
        'docker ps',
        'docker logs web',
        'docker build .',
        'docker compose up -d',
        'docker rmi x',
        'docker rm web',
      ],
    },
  },
  {
    key: 'service',
    verdict: 'dangerous',
    description: 'starts a container that can reach the whole host',
    programs: ENGINES,
    match: reachesHost,
    examples: {
      must: [
        'docker run --privileged alpine',
        'docker run -v /:/host alpine sh',
        'docker run -v /var/run/docker.sock:/var/run/docker.sock x',
      ],
      mustNot: ['docker run -v "$PWD:/w" alpine ls', 'docker run -v data:/data x'],
    },
  },
  {
    key: 'process-kill',
    verdict: 'dangerous',
    description: 'kills processes by force or by name',
    programs: [
      'kill',
      'pkill',
      'killall',
      'fuser',
      'xkill',
      'skill',
      'taskkill',
      'kill-port',
      'fkill',
      'slay',
    ],
    match: (command) => {
      const texts = command.args.map((word) => word.text);
      switch (command.program) {
        case 'kill': {
          if (texts.some((text) => /^(?:-0|-l|-L|--list|--table)$/.test(text))) return false;
          if (texts[0] === '-s' && texts[1] === '0') return false;
          const plain = operands(command, ['-s', '-n', '--signal']).filter((word) => !/^-/.test(word.text));
          const looked = plain.some(
            (word) =>
              (word.taint & Taint.command) !== 0 &&
              ((word.taint & Taint.file) === 0 || (word.taint & Taint.listed) !== 0),
          );
          return (
            signals9(command) ||
            isVia(command, 'xargs', 'parallel') ||
            looked ||
            plain.some((word) => word.text === '1') ||
            texts.slice(1).some((text) => /^-\d{2,}$/.test(text) && texts[0] !== text)
          );
        }
        case 'fuser':
          return has(command, 'k', 'kill');
        case 'pkill':
          return !(
            optionValues(command, '-P', '--parent').some((word) => word.vars.includes('$')) ||
            texts.includes('-0') ||
            has(command, '', 'help', 'version')
          );
        case 'killall':
        case 'taskkill':
          return !texts.some((text) => /^(?:-l|--list|-0|-V|--version|\/\?)$/.test(text)) && texts.length > 0;
        default:
          return texts.length > 0 || command.program === 'xkill';
      }
    },
    subject: (command) =>
      /^(?:pkill|killall)$/.test(command.program) ? names(command.program, killPattern(command)) : null,
    examples: {
      must: [
        'kill -9 42',
        'pkill node',
        'killall -9 x',
        'fuser -k 80/tcp',
        'kill $(pgrep x)',
        'kill -s KILL 42',
        'pgrep x | xargs kill',
      ],
      mustNot: [
        'kill 42',
        'kill -0 42',
        'kill %1',
        'kill "$PID"',
        'kill $(cat app.pid)',
        'pkill -P $$',
        'kill -l',
      ],
    },
  },
];
