import { chatClients, eventReaders, generators, mcpClients } from '../../callers/pins.js';
import { table } from './table.js';

const groups: [use: string, clients: readonly { language: string; name: string; version: string }[]][] = [
  ['chat completions', chatClients.filter(({ api }) => api === undefined)],
  ['responses', chatClients.filter(({ api }) => api === 'responses')],
  ['messages', chatClients.filter(({ api }) => api === 'messages')],
  ['event streams', eventReaders],
  ['`ratchet mcp`', mcpClients],
  ['the OpenAPI document', Object.values(generators)],
];

/** The clients of others that the tests run, with their versions. */
export function callerTable(): string {
  const rows = groups.flatMap(([use, clients]) => {
    const versions = new Map<string, string[]>();
    for (const { language, name, version } of clients) {
      const cell = `\`${name}\` (${language})`;
      versions.set(cell, [...(versions.get(cell) ?? []), version]);
    }
    return [...versions].map(([client, tested]) => [use, client, tested.join(', ')]);
  });
  return table(['for', 'client', 'tested'], rows);
}
