import { mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { takeMedia } from '../../../../src/gateway/turn/media-out.ts';

describe('files that an answer sends', () => {
  let folder = '';
  beforeEach(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'hermes-media-')));
    for (const name of ['chart.png', '.env', 'id_ed25519']) await writeFile(join(folder, name), 'x');
  });
  afterEach(() => rm(folder, { recursive: true }));
  const take = (text: string, home = '/nowhere') => takeMedia(text, home);

  it('are named by lines of their own, which the text then lacks', async () => {
    const taken = await take(`Here it is:\nMEDIA:${folder}/chart.png\nDone.`);
    expect(taken.text).toBe('Here it is:\nDone.');
    expect(taken.files).toEqual([{ path: join(folder, 'chart.png'), name: 'chart.png', as: 'photo' }]);
  });

  it('are not taken from quoted code', async () => {
    const text = `The page says:\n\`\`\`\nMEDIA:${folder}/chart.png\n\`\`\`\nI did not follow it.`;
    expect(await take(text)).toEqual({ text, files: [], missing: [] });
  });

  it('are never secrets, not even through a link, nor the state of the gateway', async () => {
    await symlink(join(folder, 'id_ed25519'), join(folder, 'innocent.txt'));
    for (const name of ['.env', 'id_ed25519', 'innocent.txt']) {
      expect((await take(`MEDIA:${folder}/${name}`)).files).toEqual([]);
    }
    expect((await take(`MEDIA:${folder}/chart.png`, folder)).files).toEqual([]);
  });

  it('that are not there are said to be missing', async () => {
    expect((await take('MEDIA:/no/such/file.png')).missing).toEqual(['/no/such/file.png']);
  });
});
