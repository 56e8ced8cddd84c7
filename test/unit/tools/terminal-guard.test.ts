import { expect, test } from 'vitest';
import { foregroundProblem } from '../../../tools/terminal/foreground-guard.ts';

test.each([
  'sleep 100 &',
  'sleep 100 & echo started',
  '(make; make install) &',
  'nohup make',
  'make; disown',
  'setsid -f make',
  'npm run dev',
  'pnpm start',
  'cd app && yarn serve',
  'PORT=3000 bun run watch',
  'docker compose up',
  'docker compose -f a.yml up web',
  'next dev',
  'vite',
  'npx nodemon x.js',
  'uvicorn app:app',
  'exec gunicorn app',
  'python3 -m http.server 8000',
  'cat <<EOF >x\nnothing\nEOF\nnpm start',
])('%j belongs into the background', (command) => {
  expect(foregroundProblem(command)).toContain('background=true');
});

test.each([
  'make && make install',
  'make 2>&1 | tee log',
  'make &> log',
  'make >& log',
  'make &>> log',
  'echo "a & b"',
  "echo 'nohup'",
  'echo a \\& b',
  'curl "http://x/?a=1&b=2"',
  'git commit -m "npm run dev & more"',
  'npm run build',
  'npm start --help',
  'uvicorn --version',
  'vite build',
  'docker compose up -d',
  'docker compose up --detach web',
  'grep -r uvicorn .',
  'pip install uvicorn',
  'ls # & later',
  "cat <<'EOF' >notes\nrun nohup x &\nnpm start\nEOF",
  'exec 3<&0',
])('%j may run in the foreground', (command) => {
  expect(foregroundProblem(command)).toBeNull();
});
