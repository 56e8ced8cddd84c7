import { has, isVia, operands, pathOf, type SimpleCommand } from '../shell/command.ts';
import { isSystemPath } from '../shell/paths.ts';
import { NO_FLOW, shown } from '../shell/value.ts';
import { names, paths, type Rule } from './rule.ts';
import { writesOf } from './writes.ts';

const verb = (command: SimpleCommand, index = 0) => operands(command)[index]?.text ?? '';

export const SYSTEM_RULES: readonly Rule[] = [
  {
    key: 'system-config',
    verdict: 'dangerous',
    description: 'writes system files',
    match: (command) => writesOf(command).some((write) => isSystemPath(write.path)),
    subject: (command) =>
      paths(
        'write',
        writesOf(command)
          .filter((write) => isSystemPath(write.path))
          .map((write) => write.path),
      ),
    examples: {
      must: [
        'echo x >> /etc/hosts',
        'sudo tee /etc/cron.d/x < job',
        'cp tool /usr/local/bin/',
        'sed -i s/a/b/ /etc/fstab',
        'curl -o /etc/apt/x.list https://x.test/l',
        'tar xzf n.tgz -C /usr/local',
        'ln -s a /usr/bin/b',
      ],
      mustNot: [
        'cat /etc/hosts',
        'cp /etc/hosts .',
        'sed s/a/b/ /etc/fstab',
        'tar czf etc.tgz -C /etc .',
        'ls /usr',
      ],
    },
  },
  {
    key: 'system-config',
    verdict: 'dangerous',
    description: 'creates or removes directories of the system',
    programs: ['rmdir', 'mknod', 'mkfifo'],
    match: (command) => operands(command).some((word) => isSystemPath(pathOf(command, word))),
    examples: { must: ['rmdir /etc/old'], mustNot: ['rmdir old'] },
  },
  {
    key: 'system-config',
    verdict: 'dangerous',
    description: 'changes kernel settings or modules',
    programs: ['sysctl', 'modprobe', 'insmod', 'rmmod', 'depmod', 'kmod'],
    match: (command) => {
      if (command.program !== 'sysctl')
        return (
          operands(command).length > 0 &&
          !has(command, 'nDcR', 'show-depends', 'showconfig', 'dry-run', 'resolve-alias')
        );
      return (
        has(command, 'wp', 'write', 'load', 'system') ||
        operands(command).some((word) => /^[\w.\-/]+=/.test(word.text))
      );
    },
    examples: {
      must: ['sysctl -w vm.swappiness=1', 'sysctl net.ipv4.ip_forward=1', 'modprobe loop', 'rmmod x'],
      mustNot: ['sysctl -a', 'sysctl kernel.hostname', 'lsmod'],
    },
  },
  {
    key: 'system-config',
    verdict: 'dangerous',
    description: 'mounts or unmounts file systems, or turns swap on or off',
    programs: ['mount', 'umount', 'swapoff', 'swapon', 'losetup', 'diskutil', 'hdiutil', 'fusermount'],
    match: (command) => {
      const count = operands(command, ['-t', '-o', '-L', '-U']).length;
      if (command.program === 'mount') return count > 0 || has(command, 'a', 'all', 'bind');
      if (command.program === 'swapon') return count > 0 || has(command, 'a', 'all');
      if (command.program === 'losetup') return count > 0 && !has(command, 'jl', 'list');
      if (command.program === 'diskutil' || command.program === 'hdiutil')
        return /^(?:un)?mount|^(?:at|de)tach|^eject/i.test(verb(command));
      return count > 0 || has(command, 'a', 'all');
    },
    examples: {
      must: ['mount /dev/sdb1 /mnt', 'umount /mnt', 'swapoff -a', 'mount -o remount,rw /'],
      mustNot: ['mount', 'mount -l', 'swapon --show'],
    },
  },
  {
    key: 'system-config',
    verdict: 'dangerous',
    description: "changes the machine's name, time, boot loader or sudo rules",
    programs: [
      'hostnamectl',
      'timedatectl',
      'localectl',
      'hostname',
      'date',
      'hwclock',
      'update-grub',
      'grub-install',
      'grub-mkconfig',
      'visudo',
      'efibootmgr',
      'update-initramfs',
      'mkinitcpio',
      'dracut',
      'bcdedit',
      'nvram',
      'csrutil',
      'scutil',
      'systemsetup',
      'ldconfig',
      'setcap',
      'authconfig',
      'pam-auth-update',
    ],
    match: (command) => {
      const first = verb(command);
      switch (command.program) {
        case 'hostnamectl':
        case 'timedatectl':
        case 'localectl':
          return first.startsWith('set-') || (first === 'hostname' && operands(command).length > 1);
        case 'hostname':
          return operands(command).length > 0;
        case 'date':
          return has(command, 's', 'set') && command.args.some((word) => /^(?:-s|--set)/.test(word.text));
        case 'hwclock':
          return has(command, 'sw', 'systohc', 'hctosys', 'set');
        case 'visudo':
          return !has(command, 'cV', 'check', 'version');
        case 'grub-mkconfig':
        case 'setcap':
        case 'ldconfig':
          return false;
        case 'scutil':
        case 'systemsetup':
          return command.args.some((word) => /^--?set/.test(word.text));
        case 'csrutil':
          return first === 'disable';
        case 'efibootmgr':
          return command.args.some((word) => /^-[BbcCnNoO]/.test(word.text));
        default:
          return true;
      }
    },
    examples: {
      must: [
        'hostnamectl set-hostname x',
        'timedatectl set-ntp false',
        'update-grub',
        'visudo',
        'date -s "2020-01-01"',
      ],
      mustNot: ['timedatectl', 'hostname', 'date +%s', 'visudo -c'],
    },
  },
  {
    key: 'system-config',
    verdict: 'dangerous',
    description: 'changes what runs at fixed times',
    programs: ['crontab', 'at', 'batch', 'atrm', 'schtasks'],
    match: (command) => {
      if (command.program === 'at')
        return !has(command, 'lcV') && (command.args.length > 0 || command.stdin !== NO_FLOW);
      if (command.program === 'schtasks')
        return command.args.some((word) => /^\/(?:create|delete|change)$/i.test(word.text));
      if (command.program !== 'crontab') return true;
      return (
        has(command, 're') ||
        operands(command, ['-u']).length > 0 ||
        (command.stdin !== NO_FLOW && !has(command, 'l'))
      );
    },
    examples: {
      must: [
        'crontab jobs.txt',
        'crontab -r',
        'crontab -e',
        'echo "* * * * * x" | crontab -',
        'at now + 5 minutes',
      ],
      mustNot: ['crontab -l', 'atq', 'at -l'],
    },
  },
  {
    key: 'system-config',
    verdict: 'dangerous',
    description: 'writes or edits a service unit',
    programs: ['systemctl', 'systemd-tmpfiles', 'launchctl'],
    match: (command) => {
      const first = verb(command);
      if (command.program === 'systemctl')
        return /^(?:edit|link|set-default|set-property|revert|set-environment|preset|preset-all)$/.test(
          first,
        );
      return command.program === 'systemd-tmpfiles' && has(command, '', 'clean', 'remove');
    },
    subject: (command) => names(`${command.program} ${verb(command)}`, operands(command).slice(1).map(shown)),
    examples: {
      must: ['systemctl edit nginx', 'systemctl set-default graphical.target'],
      mustNot: ['systemctl cat nginx', 'systemctl enable nginx', 'systemctl daemon-reload'],
    },
  },
  {
    key: 'system-config',
    verdict: 'dangerous',
    description: 'writes a service unit of the user',
    match: (command) =>
      !isVia(command, 'ssh') &&
      writesOf(command).some((write) =>
        /\/systemd\/(?:user|system)(?:\/|$)|\/Library\/LaunchDaemons(?:\/|$)/.test(write.path),
      ),
    examples: {
      must: ['cp x.service ~/.config/systemd/user/'],
      mustNot: ['cat ~/.config/systemd/user/x.service'],
    },
  },
];
