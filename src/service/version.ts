import { readFileSync } from 'node:fs';

const candidates = ['../../package.json', '../../../package.json'].map((path) => new URL(path, import.meta.url));

/** The version in package.json, for the sources and the build. */
export const version: string = read();

function read(): string {
  for (const file of candidates) {
    try {
      const found = JSON.parse(readFileSync(file, 'utf8')) as { name?: string; version?: string };
      if (found.name === 'ratchet-prompts' && found.version) return found.version;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  throw new Error('package.json of ratchet-prompts was not found beside the program');
}
