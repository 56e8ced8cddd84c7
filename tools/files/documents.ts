import { posix } from 'node:path';
import { z } from 'zod';
import { unzip } from './zip.ts';

type Extractor = (data: Uint8Array) => Promise<string>;

/** Documents that are read as their text, by file name ending. */
const extractors: Readonly<Record<string, Extractor>> = {
  '.ipynb': extractNotebook,
  '.docx': extractWord,
  '.xlsx': extractSheets,
};

export const isDocument = (path: string): boolean =>
  Object.hasOwn(extractors, posix.extname(path).toLowerCase());

/** The text of a notebook or an office document. Rejects when it is damaged. */
export async function extractDocument(path: string, data: Uint8Array): Promise<string> {
  const extract = extractors[posix.extname(path).toLowerCase()];
  if (!extract) throw new Error(`${path} is no document of a known kind.`);
  return extract(data);
}

const source = z.union([z.string(), z.array(z.string()).transform((lines) => lines.join(''))]);
const notebookShape = z.object({
  cells: z.array(
    z.object({
      cell_type: z.string(),
      source,
      outputs: z.array(z.object({ text: source.optional() })).default([]),
    }),
  ),
});

async function extractNotebook(data: Uint8Array): Promise<string> {
  const { cells } = notebookShape.parse(JSON.parse(Buffer.from(data).toString('utf8')));
  return cells
    .map((cell, index) => {
      const outputs = cell.outputs.flatMap(({ text }) => (text === undefined ? [] : [`--- output\n${text}`]));
      return [`=== cell ${index + 1} (${cell.cell_type})`, cell.source, ...outputs].join('\n');
    })
    .join('\n\n');
}

async function extractWord(data: Uint8Array): Promise<string> {
  const members = await unzip(data, (name) => name === 'word/document.xml');
  const xml = members.get('word/document.xml');
  if (xml === undefined) throw new Error('The document has no text part.');
  const paragraphs = xml.split('</w:p>').map((paragraph) =>
    paragraph
      .replaceAll(/<w:tab\b[^>]*\/>/g, '\t')
      .replaceAll(/<w:br\b[^>]*\/>/g, '\n')
      .replaceAll(/<[^>]*>/g, ''),
  );
  return decodeEntities(paragraphs.join('\n').trim());
}

async function extractSheets(data: Uint8Array): Promise<string> {
  const isSheet = (name: string) => /^xl\/worksheets\/sheet\d+\.xml$/.test(name);
  const members = await unzip(data, (name) => isSheet(name) || name === 'xl/sharedStrings.xml');
  const shared = elements(members.get('xl/sharedStrings.xml') ?? '', 'si').map(({ body }) => textOf(body));
  const sheets = [...members].filter(([name]) => isSheet(name));
  sheets.sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }));
  return sheets
    .map(([name, xml]) => {
      const rows = elements(xml, 'row').map(({ body }) =>
        elements(body, 'c').map((cell) => cellText(cell, shared)),
      );
      return [`=== ${posix.basename(name, '.xml')}`, ...rows.map((cells) => cells.join('\t'))].join('\n');
    })
    .join('\n\n');
}

interface XmlElement {
  attributes: string;
  body: string;
}

/** Elements of one name that do not nest, as the cells and rows of a sheet. */
function elements(xml: string, name: string): XmlElement[] {
  const shape = new RegExp(`<${name}\\b([^>]*?)(?:/>|>([\\s\\S]*?)</${name}>)`, 'g');
  return [...xml.matchAll(shape)].map(([, attributes = '', body = '']) => ({ attributes, body }));
}

function cellText({ attributes, body }: XmlElement, shared: readonly string[]): string {
  const value = elements(body, 'v')[0]?.body ?? '';
  if (/\bt="s"/.test(attributes)) return shared[Number(value)] ?? '';
  return /\bt="inlineStr"/.test(attributes) ? textOf(body) : decodeEntities(value);
}

const textOf = (xml: string): string =>
  decodeEntities(
    elements(xml, 't')
      .map(({ body }) => body)
      .join(''),
  );

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };

const decodeEntities = (text: string): string =>
  text.replaceAll(
    /&(?:(lt|gt|quot|apos|amp)|#(\d{1,7})|#x([\da-f]{1,6}));/gi,
    (whole, name, decimal, hex) => {
      if (name !== undefined) return entities[name] ?? whole;
      const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    },
  );
