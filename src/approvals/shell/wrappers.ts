/**
 * Programs that run another program. One entry each; adding one is all it takes to look through it. Options not
 * named here are taken to stand alone.
 */
export interface Wrapper {
  readonly names: readonly string[];
  /** The subcommand that makes it a wrapper: `docker exec`. Several spellings are several entries. */
  readonly subcommand?: readonly string[];
  /** Letters of short options that take a value. */
  readonly valued?: string;
  /** Long options that take a value in the next word. `all`: every long option does, but those in `alone`. */
  readonly valuedLong?: readonly string[] | 'all';
  readonly alone?: readonly string[];
  /** Operands before the command: a host, a duration, an image. */
  readonly operands?: number;
  /** The command follows only after `--`. */
  readonly afterDashes?: boolean;
  /** What follows is one shell text, not a list of words. */
  readonly text?: boolean;
  /** Options whose value is a shell text: `-c`, `--command`. */
  readonly textOptions?: readonly string[];
  /** `NAME=value` words may stand before the command. */
  readonly assignments?: boolean;
  /** The command runs elsewhere: paths are not the session's. */
  readonly remote?: boolean;
}

const CONTAINER_ALONE = [
  '--detach',
  '--detach-keys',
  '--disable-content-trust',
  '--init',
  '--interactive',
  '--no-healthcheck',
  '--no-deps',
  '--no-TTY',
  '--oom-kill-disable',
  '--privileged',
  '--publish-all',
  '--quiet',
  '--quiet-pull',
  '--read-only',
  '--remove-orphans',
  '--rm',
  '--build',
  '--service-ports',
  '--sig-proxy',
  '--tty',
  '--use-aliases',
  '--help',
  '--tls',
] as const;
const ENGINES = ['docker', 'podman', 'nerdctl', 'docker-compose', 'podman-compose'];
const container = (subcommand: readonly string[]): Wrapper => ({
  names: ENGINES,
  subcommand,
  valued: 'acehlmpuvwf',
  valuedLong: 'all',
  alone: CONTAINER_ALONE,
  operands: 1,
  remote: true,
});

export const WRAPPERS: readonly Wrapper[] = [
  {
    names: ['sudo'],
    valued: 'ughpCrtTUDR',
    valuedLong: [
      '--user',
      '--group',
      '--host',
      '--prompt',
      '--chdir',
      '--close-from',
      '--role',
      '--type',
      '--other-user',
      '--chroot',
    ],
    assignments: true,
  },
  { names: ['doas'], valued: 'uCa' },
  { names: ['su'], operands: 99, textOptions: ['-c', '--command', '--session-command'], valued: 'sgGTw' },
  {
    names: ['runuser'],
    valued: 'ugGsw',
    valuedLong: ['--user', '--group', '--shell'],
    textOptions: ['-c', '--command'],
  },
  { names: ['pkexec'], valuedLong: ['--user'] },
  { names: ['setpriv'], valuedLong: ['--reuid', '--regid', '--groups', '--inh-caps', '--bounding-set'] },
  {
    names: ['env'],
    valued: 'uCP',
    valuedLong: ['--unset', '--chdir'],
    textOptions: ['-S', '--split-string'],
    assignments: true,
  },
  {
    names: [
      'ld-linux-x86-64.so.2',
      'ld-linux-aarch64.so.1',
      'ld-linux.so.2',
      'ld-musl-x86_64.so.1',
      'ld-musl-aarch64.so.1',
      'ld.so',
    ],
    valuedLong: ['--library-path', '--preload', '--argv0', '--inhibit-rpath', '--audit'],
  },
  { names: ['nice'], valued: 'n', valuedLong: ['--adjustment'] },
  { names: ['ionice'], valued: 'cnpPu', valuedLong: ['--class', '--classdata'] },
  { names: ['chrt'], valued: 'TPD', operands: 1 },
  { names: ['taskset'], operands: 1 },
  { names: ['cpulimit'], valued: 'lpe', valuedLong: ['--limit'] },
  {
    names: [
      'nohup',
      'setsid',
      'builtin',
      'noglob',
      'unbuffer',
      'rlwrap',
      'torsocks',
      'torify',
      'proxychains',
      'proxychains4',
      'dbus-launch',
      'fakeroot',
      'ltrace',
      'catchsegv',
      'linux32',
      'linux64',
      'setarch',
      'coproc',
      'nocorrect',
      'winpty',
      'tsocks',
      'eatmydata',
      'chronic',
      'ifne',
      'dumb-init',
      'tini',
      'catatonit',
    ],
    valued: '',
  },
  { names: ['systemd-inhibit'], valuedLong: ['--what', '--who', '--why', '--mode'] },
  { names: ['timeout', 'gtimeout'], valued: 'ks', valuedLong: ['--kill-after', '--signal'], operands: 1 },
  { names: ['stdbuf'], valued: 'ioe', valuedLong: ['--input', '--output', '--error'] },
  { names: ['time', 'gtime'], valued: 'fo', valuedLong: ['--format', '--output'] },
  { names: ['exec'], valued: 'a' },
  { names: ['chroot'], valuedLong: ['--groups', '--userspec'], operands: 1 },
  {
    names: ['unshare'],
    valued: 'SGRw',
    valuedLong: ['--setuid', '--setgid', '--root', '--wd', '--propagation', '--setgroups'],
  },
  { names: ['nsenter'], valued: 'tSGrw', valuedLong: ['--target', '--setuid', '--setgid'] },
  { names: ['bwrap', 'firejail', 'proot'], valuedLong: [] },
  {
    names: ['flock'],
    valued: 'wE',
    valuedLong: ['--timeout', '--wait', '--conflict-exit-code'],
    operands: 1,
    textOptions: ['-c', '--command'],
  },
  { names: ['watch'], valued: 'nq', valuedLong: ['--interval'], text: true },
  { names: ['entr'], valued: '' },
  { names: ['script'], operands: 99, textOptions: ['-c', '--command'], valued: 'IOBTmoE' },
  { names: ['strace', 'dtruss'], valued: 'aeopsuPSbEIOXU', valuedLong: ['--trace', '--output'] },
  { names: ['gdb', 'valgrind', 'perf', 'heaptrack'], afterDashes: true },
  { names: ['xvfb-run'], valued: 'enspf', valuedLong: ['--server-args', '--server-num', '--auth-file'] },
  { names: ['faketime'], operands: 1, valued: 'f' },
  { names: ['caffeinate'], valued: 'tw' },
  {
    names: ['systemd-run'],
    valued: 'pMutGHE',
    valuedLong: [
      '--unit',
      '--property',
      '--slice',
      '--uid',
      '--gid',
      '--on-active',
      '--on-calendar',
      '--on-boot',
      '--working-directory',
      '--setenv',
      '--description',
      '--machine',
    ],
  },
  {
    names: ['ssh', 'autossh', 'slogin'],
    valued: 'BbcDEeFIiJLlmOopQRSWw',
    operands: 1,
    text: true,
    remote: true,
  },
  { names: ['sshpass'], valued: 'pfdP' },
  { names: ['mosh'], operands: 1, valuedLong: ['--ssh', '--port'], remote: true },
  { names: ['vagrant'], subcommand: ['ssh'], operands: 99, textOptions: ['-c', '--command'], remote: true },
  {
    names: ['gcloud'],
    subcommand: ['compute', 'ssh'],
    operands: 99,
    textOptions: ['--command'],
    remote: true,
  },
  { names: ['rsh', 'remsh'], valued: 'l', operands: 1, text: true, remote: true },
  { names: ['pdsh', 'clush', 'pssh'], valued: 'whlup', text: true, remote: true },
  { names: ['ansible'], operands: 99, textOptions: ['-a', '--args'], remote: true },
  container(['exec']),
  container(['run']),
  container(['create']),
  container(['container', 'exec']),
  container(['container', 'run']),
  container(['compose', 'exec']),
  container(['compose', 'run']),
  { names: ['kubectl', 'oc', 'k', 'k3s', 'microk8s'], subcommand: ['exec'], afterDashes: true, remote: true },
  { names: ['kubectl', 'oc', 'k'], subcommand: ['run'], afterDashes: true, remote: true },
  { names: ['lxc', 'incus'], subcommand: ['exec'], afterDashes: true, remote: true },
  { names: ['lxc-attach', 'machinectl', 'distrobox', 'toolbox'], afterDashes: true, remote: true },
  {
    names: ['singularity', 'apptainer'],
    subcommand: ['exec'],
    valued: 'BHW',
    valuedLong: ['--bind', '--home', '--pwd'],
    operands: 1,
    remote: true,
  },
  { names: ['npx', 'bunx', 'pnpx'], valued: 'p', valuedLong: ['--package'], textOptions: ['-c', '--call'] },
  {
    names: ['npm', 'pnpm', 'yarn', 'bun'],
    subcommand: ['exec'],
    valuedLong: ['--package'],
    textOptions: ['-c'],
  },
  { names: ['npm', 'bun'], subcommand: ['x'], valuedLong: ['--package'] },
  { names: ['pnpm', 'yarn'], subcommand: ['dlx'], valuedLong: ['--package'] },
  {
    names: ['uv', 'poetry', 'pipenv', 'pdm', 'rye', 'hatch'],
    subcommand: ['run'],
    valued: 'pw',
    valuedLong: [
      '--with',
      '--python',
      '--extra',
      '--group',
      '--project',
      '--directory',
      '--env-file',
      '--package',
      '--with-requirements',
    ],
  },
  { names: ['uvx', 'pipx'], valuedLong: ['--from', '--with', '--python', '--spec'] },
  {
    names: ['conda', 'mamba', 'micromamba'],
    subcommand: ['run'],
    valued: 'np',
    valuedLong: ['--name', '--prefix'],
  },
  { names: ['bundle', 'mise', 'rtx', 'asdf', 'direnv'], subcommand: ['exec'], afterDashes: false },
  { names: ['nix-shell'], operands: 99, textOptions: ['--run', '--command'], valued: 'pAI' },
  { names: ['nix'], subcommand: ['develop'], operands: 99, textOptions: ['-c', '--command'] },
  { names: ['dotenv', 'cross-env', 'env-cmd', 'dotenvx'], valued: 'ef', assignments: true },
  { names: ['hyperfine', 'concurrently'], valuedLong: 'all', text: true },
  { names: ['cross-env-shell'], assignments: true, text: true },
  { names: ['tmux'], subcommand: ['new-session'], valued: 'sncxyFetf', text: true },
  { names: ['tmux'], subcommand: ['new'], valued: 'sncxyFetf', text: true },
  { names: ['tmux'], subcommand: ['new-window'], valued: 'nctFe', text: true },
  { names: ['tmux'], subcommand: ['split-window'], valued: 'lctpFe', text: true },
  { names: ['tmux'], subcommand: ['run-shell'], valued: 'td', text: true },
  { names: ['tmux'], subcommand: ['send-keys'], valued: 'tN', text: true },
  { names: ['screen'], valued: 'SctTeshpX' },
  { names: ['at', 'batch'], operands: 99 },
  { names: ['busybox', 'toybox', 'coreutils'], valued: '' },
  { names: ['git'], subcommand: ['bisect', 'run'] },
  { names: ['git'], subcommand: ['submodule', 'foreach'], text: true },
  { names: ['git'], subcommand: ['rebase'], operands: 99, textOptions: ['-x', '--exec'], valued: 'sXC' },
  {
    names: ['git'],
    subcommand: ['filter-branch'],
    operands: 99,
    textOptions: ['--tree-filter', '--index-filter', '--msg-filter', '--env-filter'],
  },
  { names: ['osascript', 'expect'], operands: 99 },
  { names: ['start-stop-daemon'], afterDashes: true },
  { names: ['op', 'doppler', 'aws-vault', 'chamber', 'infisical'], afterDashes: true },
];

/** Global options before a subcommand that take a value in the next word. */
export const GLOBAL_VALUED: readonly string[] = [
  '-H',
  '--host',
  '-c',
  '--context',
  '--config',
  '-l',
  '-f',
  '--file',
  '-p',
  '--project-name',
  '--project-directory',
  '--profile',
  '--env-file',
  '-C',
  '--git-dir',
  '--work-tree',
  '--namespace',
  '-n',
  '--kubeconfig',
  '--prefix',
  '--dir',
  '--filter',
  '-F',
  '-L',
  '-S',
  '--project',
  '--directory',
];

export const SHELLS: ReadonlySet<string> = new Set([
  'sh',
  'bash',
  'zsh',
  'dash',
  'ksh',
  'ksh93',
  'mksh',
  'ash',
  'rbash',
  'fish',
  'csh',
  'tcsh',
  'yash',
  'lksh',
  'pdksh',
]);

/** Interpreters with the options whose value is code. */
export const INTERPRETERS: Readonly<Record<string, { language: Language; options: readonly string[] }>> = {
  python: { language: 'python', options: ['-c'] },
  node: { language: 'javascript', options: ['-e', '--eval', '-p', '--print', '-pe'] },
  nodejs: { language: 'javascript', options: ['-e', '--eval', '-p', '--print', '-pe'] },
  bun: { language: 'javascript', options: ['-e', '--eval', '-p', '--print'] },
  deno: { language: 'javascript', options: ['eval'] },
  tsx: { language: 'javascript', options: ['-e', '--eval', '-p'] },
  perl: { language: 'perl', options: ['-e', '-E'] },
  ruby: { language: 'ruby', options: ['-e'] },
  php: { language: 'php', options: ['-r'] },
  lua: { language: 'lua', options: ['-e'] },
  osascript: { language: 'applescript', options: ['-e'] },
  Rscript: { language: 'r', options: ['-e'] },
  R: { language: 'r', options: ['-e'] },
  julia: { language: 'r', options: ['-e'] },
  elixir: { language: 'r', options: ['-e'] },
  groovy: { language: 'r', options: ['-e'] },
  tclsh: { language: 'tcl', options: [] },
  expect: { language: 'tcl', options: ['-c'] },
  pwsh: { language: 'powershell', options: ['-Command', '-c', '-command', '-EncodedCommand', '-enc'] },
  powershell: { language: 'powershell', options: ['-Command', '-c', '-command', '-EncodedCommand', '-enc'] },
  awk: { language: 'awk', options: [] },
};

export type Language =
  | 'python'
  | 'javascript'
  | 'perl'
  | 'ruby'
  | 'php'
  | 'lua'
  | 'awk'
  | 'r'
  | 'tcl'
  | 'applescript'
  | 'powershell';

/** `python3.12`, `gawk`, `luajit` and their like, by the name of their family. */
export function interpreterName(program: string): string | null {
  if (Object.hasOwn(INTERPRETERS, program)) return program;
  if (/^(?:python|pypy|ipython)[\d.]*$/.test(program)) return 'python';
  if (/^(?:perl|ruby|php|lua|node|jruby|luajit)[\d.]+$|^(?:luajit|jruby|php-cli|irb)$/.test(program)) {
    const family = /^(?:j?ruby|irb)/.test(program) ? 'ruby' : /^[a-z]+/.exec(program)?.[0];
    return family === 'luajit' ? 'lua' : (family ?? null);
  }
  return /^(?:[gnm]awk|busybox-awk)$/.test(program) ? 'awk' : null;
}
