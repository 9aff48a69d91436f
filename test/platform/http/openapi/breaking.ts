/** Breaking changes between two OpenAPI documents, as oasdiff finds them. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

interface Change {
  id: string;
  text: string;
  operation?: string;
  path?: string;
  /** 3: breaks clients; 2: may break some. */
  level: number;
}

const breaks = 3;

/** What clients expect, and oasdiff cannot know. */
const compatible: readonly { id: RegExp; text?: RegExp; reason: string }[] = [
  { id: /^response-.*-enum-value-added$/, reason: 'Clients take an unknown value of an answer as other values.' },
  {
    id: /^response-(body|property)-any-of-added$/,
    text: /schemas\/Event\w+`/,
    reason: 'Clients ignore events of an unknown type.',
  },
];

/** The changes from a document to a later one that break clients, a line each. */
export async function breakingChanges(program: string, before: string, after: string): Promise<string[]> {
  const { stdout } = await promisify(execFile)(program, ['breaking', before, after, '--format', 'json'], {
    maxBuffer: 64 * 1024 * 1024,
  });
  const changes = JSON.parse(stdout.trim() || '[]') as Change[];
  return changes
    .filter(({ level }) => level >= breaks)
    .filter((change) => !compatible.some(({ id, text }) => id.test(change.id) && (text?.test(change.text) ?? true)))
    .map(({ id, text, operation = '', path = '' }) => `${id}: ${operation} ${path}: ${text}`);
}
