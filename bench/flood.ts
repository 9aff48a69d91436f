/** Callers without a valid key, a separate process: 64 connections that ask as fast as they can. */
import { Agent, request } from 'undici';
import { serveChild } from './child.js';

const connections = 64;
const dispatcher = new Agent({ connections, pipelining: 1 });
let target: string | null = null;
let statuses: Record<number, number> = {};

async function ask(url: string, n: number): Promise<void> {
  while (target === url) {
    const headers = url.includes('/api/') ? { authorization: `Bearer unknown-${n}-${Math.random()}` } : {};
    const { statusCode, body } = await request(url, { dispatcher, headers });
    await body.dump({ limit: Infinity });
    statuses[statusCode] = (statuses[statusCode] ?? 0) + 1;
  }
}

serveChild('none', (question, about) => {
  if (question === 'begin') {
    target = about;
    statuses = {};
    for (let n = 0; n < connections; n += 1) void ask(about, n);
    return null;
  }
  target = null;
  return statuses;
});
