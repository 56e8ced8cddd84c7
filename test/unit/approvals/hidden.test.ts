import { describe, expect, it } from 'vitest';
import { detectDangerousCommand } from '../../../src/approvals/detect.ts';

const judge = (command: string) =>
  detectDangerousCommand(command, { cwd: '/home/ann/app', home: '/home/ann' });

/** Commands within options and code of programs that look harmless. */
const hidden: readonly (readonly [string, string])[] = [
  ['mapfile', `mapfile -C 'rm -rf ~/photos' -c 1 < x`],
  ['a prompt expansion', `x='$(rm -rf ~/photos)'; echo "\${x@P}"`],
  ['sed: e with a command', `sed '1e rm -rf ~/photos' f`],
  ['sed: the flag e', `sed -i 's/foo/bar/e' f`],
  ['sed: e on a matching line', `sed '/x/e' f`],
  ['sed: w', `sed -n '1w /home/ann/.bashrc' f`],
  ['find: -fprintf', `find . -fprintf ~/.bashrc x`],
  ['awk: print to a file', `awk 'BEGIN{print "x" > "/home/ann/.bashrc"}'`],
  ['git config: an alias', `git config --global alias.x '!rm -rf ~/photos'`],
  ['git config set', `git config set core.pager 'rm -rf ~/photos'`],
  ['tar -I', `tar -I 'rm -rf ~/photos' -xf a`],
  ['ex', `ex -sc '!rm -rf ~/photos' x`],
  ['vim: a filter', `vim -c '%!rm -rf ~/photos' x`],
  ['make from a pipe', `make -f - <<< $'x:\\n\\trm -rf ~/photos'`],
  ['make --eval', `make --eval='x:;rm -rf ~/photos' x`],
  ['expect', `expect -c 'spawn rm -rf ~/photos'`],
  ['mysql: system', `mysql -e 'select 1; system rm -rf ~/photos'`],
  ['the loader', `/lib64/ld-linux-x86-64.so.2 /bin/rm -rf /home/ann/photos`],
  ['python: a module under another name', `python3 -c 'import os as o; o.system("rm -rf ~/photos")'`],
  ['python: a name of its own', `python3 -c 'from os import system as s; s("rm -rf ~/photos")'`],
  ['python: run', `python3 -c 'from subprocess import run; run(["rm","-rf","/home/ann/photos"])'`],
  [
    'python: everything of a module',
    `python3 -c 'from subprocess import *; run(["rm","-rf","/home/ann/photos"])'`,
  ],
  ['python: rmtree by another name', `python3 -c 'from shutil import rmtree as r; r("/home/ann/photos")'`],
  ['python: held in a variable', `python3 -c 'import os; f=os.system; f("rm -rf ~/photos")'`],
  ['python: handed on', `python3 -c 'import os; list(map(os.system, ["rm -rf ~/photos"]))'`],
  [
    'python: the argument on the next line',
    `python3 -c 'import os
os.system(
"rm -rf ~/photos")'`,
  ],
  ['python: __import__', `python3 -c '__import__("os").system("rm -rf ~/photos")'`],
  [
    'python: a name put together',
    `python3 -c 'getattr(__import__("shu"+"til"),"rm"+"tree")("/home/ann/photos")'`,
  ],
  ['python: getattr', `python3 -c 'import os; getattr(os, "system")("rm -rf ~/photos")'`],
  ['node: a member by its text', `node -e 'require("child_process")["exec"]("rm -rf ~/photos")'`],
  ['node: a name of its own', `node -e 'const {exec:e}=require("child_process"); e("rm -rf ~/photos")'`],
  ['node: an imported module', `node -e 'import("child_process").then(c=>c.exec("rm -rf ~/photos"))'`],
  [
    'node: options in a variable',
    `node -e 'const o={recursive:true};require("fs").rmSync("/home/ann/photos",o)'`,
  ],
  ['python: a file removed', `python3 -c 'import os; os.remove("/home/ann/photos/a.jpg")'`],
  [
    'python: a path unlinked',
    `python3 -c 'from pathlib import Path; Path("/home/ann/photos/a.jpg").unlink()'`,
  ],
  ['python: a key added', `python3 -c 'open("/home/ann/.ssh/authorized_keys","a").write("x")'`],
  ['python: a system file', `python3 -c 'open("/etc/passwd","w").write("x")'`],
  ['python: expanduser', `python3 -c 'import os; print(open(os.path.expanduser("~/.ssh/id_rsa")).read())'`],
  ['node: a key read', `node -e 'console.log(require("fs").readFileSync("/home/ann/.ssh/id_rsa","utf8"))'`],
  ['node: a profile written', `node -e 'require("fs").writeFileSync("/home/ann/.bashrc","x")'`],
  ['ruby: a file removed', `ruby -e 'File.delete("/home/ann/a")'`],
  ['perl: a file removed', `perl -e 'unlink "/home/ann/a"'`],
  ['php: a file removed', `php -r 'unlink("/home/ann/a");'`],
  ['lua: a file removed', `lua -e 'os.remove("/home/ann/a")'`],
  ['perl: a profile written', `perl -e 'open(F, ">", "/home/ann/.bashrc")'`],
  ['python: moved away', `python3 -c 'import shutil; shutil.move("a", "/home/ann/.bashrc")'`],
];

/** Their everyday neighbours. */
const plain: readonly string[] = [
  `mapfile -t lines < f`,
  `python3 -c "import json, sys; print(getattr(json.load(sys.stdin), 'x', None))"`,
  `python3 -c "import importlib; print(importlib.import_module('json').dumps({}))"`,
  `python3 -c "import subprocess; print(subprocess.run(['ls', '-la'], capture_output=True).stdout)"`,
  `python3 -c "from subprocess import run; run(['git', 'status'])"`,
  `python3 -c "import os as o; print(o.listdir('.'))"`,
  `python3 -c "import os; os.remove('build/a.txt')"`,
  `python3 -c "print(open('notes.txt').read())"`,
  `python3 -c "open('out.txt', 'w').write('x')"`,
  `python3 -c "import platform; print(platform.system())"`,
  `node -e "const {execSync}=require('child_process'); console.log(execSync('git status').toString())"`,
  `node -e "console.log(/a/.exec('a'))"`,
  `node -e "console.log(require('fs').readFileSync('package.json', 'utf8'))"`,
  `node -p "require('./package.json').version"`,
  `tar -I zstd -xf a.tar.zst`,
  `tar -I "zstd -19 -T0" -cf a.tar.zst b`,
  `git config --global core.editor vim`,
  `git config --global alias.lg "log --graph --oneline"`,
  `git config user.email a@b`,
  `git config --global core.pager "less -F"`,
  `sed -n "1,5p" f`,
  `sed -e "s/e/w/" f`,
  `sed "/^e/d" f`,
  `sed "s/w x/e/g" f`,
  `sed "s|a|e|" f`,
  `awk '{print > "out.txt"}' f`,
  `awk '$1 > "b"' f`,
  `make -f Makefile.dev test`,
  `find . -name x -fprintf out.txt "%p"`,
  `vim -c "set nu" f`,
  `expect -c "spawn ssh host; expect eof"`,
  `mysql -e "select * from system_users"`,
  `mysql -e "show databases"`,
];

describe('what a program is told to do by its options or its code', () => {
  it.each(hidden)('is found: %s', (_name, command) => {
    expect(judge(command).verdict).toBe('dangerous');
  });

  it.each(plain)('lets everyday use be: %s', (command) => {
    expect(judge(command)).toMatchObject({ verdict: 'safe', findings: [] });
  });

  it('is asked about where there is more of it than is walked', () => {
    const calls = Array.from({ length: 300 }, (_, index) => `os.system("echo ${index}")`).join(';');
    expect(judge(`python3 -c 'import os;${calls}'`).verdict).toBe('dangerous');
    const list = Array.from({ length: 1_000 }, (_, index) => `"a${index}"`).join(',');
    expect(judge(`python3 -c 'import subprocess;subprocess.run(["ls",${list},"/"])'`).verdict).toBe(
      'dangerous',
    );
  });

  it('of a disk is forbidden', () => {
    expect(judge(`python3 -c 'open("/dev/sda","wb").write(b"0"*512)'`).verdict).toBe('forbidden');
    expect(judge(`python3 -c 'from subprocess import run; run(["rm","-rf","/"])'`).verdict).toBe('forbidden');
  });
});
