import {
  has,
  isListed,
  isVia,
  operands,
  optionValues,
  pathOf,
  type SimpleCommand,
} from '../shell/command.ts';
import { findParts } from '../shell/find.ts';
import { isDisk, isWhole } from '../shell/paths.ts';
import type { Rule } from './rule.ts';
import { writesOf } from './writes.ts';

const REMOVERS = ['rm', 'grm', 'srm', 'rimraf', 'trash', 'shred', 'wipe', 'del-cli'];

export function isRecursive(command: SimpleCommand): boolean {
  return command.program === 'rimraf' || has(command, 'rR', 'recursive');
}

function removesWhole(command: SimpleCommand): boolean {
  const sweeping = isRecursive(command) || command.program === 'shred' || command.program === 'wipe';
  if (command.args.some((word) => word.text === '--no-preserve-root') && sweeping) return true;
  return operands(command, ['-n', '-s', '--iterations', '--size']).some((word) => {
    const listed = isListed(word) && isVia(command, 'find', 'xargs', 'parallel', 'fd');
    return (sweeping || listed) && isWhole(pathOf(command, word), command.context);
  });
}

const hasDisk = (command: SimpleCommand) => operands(command).some((word) => isDisk(pathOf(command, word)));

export const WIPE_RULES: readonly Rule[] = [
  {
    key: 'wipe-root',
    verdict: 'forbidden',
    description: 'deletes the root, a system directory or a home directory as a whole',
    programs: REMOVERS,
    match: removesWhole,
    examples: {
      must: [
        'rm -rf /',
        'rm -fr /etc/*',
        'sudo rm -r ~',
        'rm -rf $HOME/',
        'rm -rf /tmp/../',
        'cd / && rm -rf *',
        'echo / | xargs rm -rf',
        'rm --recurs //',
        'rm -rf /home/someone',
        'rm -rf /{usr,var}',
      ],
      mustNot: ['rm -rf /home/dev/app/build', 'rm -rf /var/tmp/x', 'rm -rf ./etc', 'echo rm -rf /'],
    },
  },
  {
    key: 'wipe-root',
    verdict: 'forbidden',
    description: 'deletes everything below the root, a system directory or a home directory',
    programs: ['find', 'gfind', 'bfs'],
    match: (command) => {
      const { roots, filtered, deletes } = findParts(command);
      return deletes && !filtered && roots.some((root) => isWhole(root, command.context));
    },
    examples: {
      must: ['find / -delete', 'find ~ -type f -delete', 'find /usr -mindepth 1 -delete'],
      mustNot: ["find / -name '*.tmp' -delete", 'find /etc -name x'],
    },
  },
  {
    key: 'wipe-root',
    verdict: 'forbidden',
    description: 'moves a system directory or a home directory away, or empties it',
    programs: ['mv', 'rsync'],
    match: (command) => {
      const named = operands(command, ['-e', '--rsh', '--exclude', '--include', '-t']);
      const whole = (word: { text: string } & (typeof named)[number]) =>
        isWhole(pathOf(command, word), command.context);
      if (command.program === 'mv')
        return named.at(-1)?.text === '/dev/null' && named.slice(0, -1).some(whole);
      const last = named.at(-1);
      return command.args.some((word) => word.text.startsWith('--del')) && last !== undefined && whole(last);
    },
    examples: {
      must: ['mv /etc /dev/null', 'mv ~ /dev/null', 'rsync -a --delete empty/ /'],
      mustNot: ['mv notes.txt /dev/null', 'mv /etc/hosts hosts'],
    },
  },
  {
    key: 'wipe-device',
    verdict: 'forbidden',
    description: 'writes over a whole disk or partition',
    match: (command) => writesOf(command).some((write) => isDisk(write.path)),
    examples: {
      must: [
        'dd if=/dev/zero of=/dev/sda',
        'cat image > /dev/nvme0n1',
        'cp image.iso /dev/sdb',
        'echo x | sudo tee /dev/vda1',
      ],
      mustNot: ['dd if=/dev/sda of=mbr.bin', 'dd if=a of=/dev/null', 'lsblk /dev/sda'],
    },
  },
  {
    key: 'wipe-device',
    verdict: 'forbidden',
    description: 'makes a file system on a disk or partition, or wipes it',
    programs: [
      'mkfs',
      'mke2fs',
      'mkdosfs',
      'mkntfs',
      'newfs',
      'mkswap',
      'blkdiscard',
      'shred',
      'wipe',
      'badblocks',
      'hdparm',
      'nwipe',
      'scrub',
      'mkfs.*',
    ],
    match: (command) =>
      hasDisk(command) &&
      (command.program !== 'badblocks' || has(command, 'w')) &&
      (command.program !== 'hdparm' ||
        command.args.some((word) =>
          /^--(?:security-erase|trim-sector|write-sector|make-bad)/.test(word.text),
        )),
    examples: {
      must: [
        'mkfs.ext4 /dev/sda1',
        'mkfs -t xfs /dev/vdb',
        'shred -n 1 /dev/sdc',
        'sudo blkdiscard /dev/nvme0n1',
      ],
      mustNot: ['mkfs.ext4 disk.img', 'man mkfs', 'shred notes.txt', 'hdparm -I /dev/sda'],
    },
  },
  {
    key: 'wipe-device',
    verdict: 'forbidden',
    description: 'changes the partition table of a disk',
    programs: ['parted', 'sfdisk', 'fdisk', 'gdisk', 'cfdisk', 'sgdisk', 'wipefs', 'diskutil', 'diskpart'],
    match: (command) => {
      const text = command.args.map((word) => word.text);
      switch (command.program) {
        case 'parted':
          return (
            hasDisk(command) &&
            text.some(
              (word) =>
                /^(?:mklabel|mktable|rm|mkpart|resizepart|set|rescue)\b/.test(word) ||
                /\b(?:mklabel|mkpart|rm)\b/.test(word),
            )
          );
        case 'wipefs':
          return hasDisk(command) && has(command, 'ao', 'all', 'offset') && !has(command, 'n', 'no-act');
        case 'sgdisk':
          return (
            hasDisk(command) &&
            has(command, 'ZzdonGtc', 'zap-all', 'zap', 'clear', 'delete', 'new', 'typecode') &&
            !has(command, 'p', 'print')
          );
        case 'diskutil':
          return (
            /^(?:erase|partition|zero|random|secureErase|reformat)/i.test(text[0] ?? '') ||
            (text[0] === 'apfs' && /^delete/i.test(text[1] ?? ''))
          );
        case 'diskpart':
          return true;
        default:
          return (
            hasDisk(command) &&
            !has(command, 'lsdxVJ', 'list', 'show-size', 'dump', 'verify', 'json', 'version')
          );
      }
    },
    examples: {
      must: [
        'parted /dev/sdb mklabel gpt',
        'sgdisk --zap-all /dev/sda',
        'wipefs -a /dev/sdb',
        'sfdisk /dev/sdb < layout',
        'diskutil eraseDisk JHFS+ X disk2',
      ],
      mustNot: [
        'fdisk -l /dev/sda',
        'parted /dev/sda print',
        'wipefs /dev/sda',
        'sgdisk -p /dev/sda',
        'sfdisk -d /dev/sda',
      ],
    },
  },
  {
    key: 'wipe-device',
    verdict: 'forbidden',
    description: 'destroys an encrypted, logical or pooled volume',
    programs: ['cryptsetup', 'lvremove', 'vgremove', 'pvremove', 'mdadm', 'zpool', 'zfs'],
    match: (command) => {
      const verb = operands(command)[0]?.text ?? '';
      if (command.program === 'cryptsetup')
        return /^(?:luksFormat|erase|luksErase|luksKillSlot|reencrypt)$/.test(verb);
      if (command.program === 'mdadm')
        return command.args.some((word) => /^--(?:zero-superblock|stop)$|^-S$/.test(word.text));
      if (command.program === 'zpool' || command.program === 'zfs')
        return verb === 'destroy' || verb === 'labelclear';
      return operands(command).length > 0 && optionValues(command, '--test').length === 0;
    },
    examples: {
      must: [
        'cryptsetup luksFormat /dev/sda2',
        'lvremove vg0/data',
        'zpool destroy tank',
        'mdadm --stop /dev/md0',
      ],
      mustNot: ['zpool status', 'zfs list', 'mdadm --detail /dev/md0', 'cryptsetup status x'],
    },
  },
];
