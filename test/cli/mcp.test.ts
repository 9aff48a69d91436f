import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serviceOfFile } from '../support/service-of-file.js';
import { rowsBaseline, startRowsWorld } from '../support/worlds/rows.js';

// `ratchet mcp` with the official client, as a coding agent starts it.

const root = join(import.meta.dirname, '../..');
const on = serviceOfFile(() => startRowsWorld());
let folder: string;
let transport: StdioClientTransport;
const client = new Client({ name: 'agent', version: '1.0.0' });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ratchet-mcp-'));
  const rows = on.world.rows(40).map((row) => JSON.stringify(row));
  writeFileSync(join(folder, 'rows.jsonl'), rows.join('\n'));
  writeFileSync(join(folder, 'prompt.txt'), rowsBaseline);
  writeFileSync(join(folder, 'better.txt'), `${rowsBaseline} rule-0. rule-1. rule-2.`);
  const project = { data: 'rows.jsonl', input: 'question', expected: 'answer', model: 'fake/policy' };
  writeFileSync(join(folder, 'ratchet.json'), JSON.stringify(project));
  const env = { RATCHET_URL: on.service.url, RATCHET_API_KEY: on.service.apiKey };
  transport = new StdioClientTransport({
    command: process.execPath,
    args: [join(root, 'dist/src/cli/ratchet.js'), 'mcp'],
    cwd: folder,
    env: { ...(process.env as Record<string, string>), ...env },
    stderr: 'ignore',
  });
  await client.connect(transport);
}, 60_000);
afterAll(async () => {
  await client.close();
  rmSync(folder, { recursive: true });
});

interface ToolAnswer {
  id?: string;
  lowest?: { reward: number; trace_id: string }[];
  jobs?: object[];
  candidates?: { messages: { content: string }[] }[];
  next_cursor?: string | null;
  /** The text of a call that failed. */
  error?: string;
}

/** The JSON of a tool's answer. */
async function call(name: string, args: Record<string, unknown>, onprogress?: () => void): Promise<ToolAnswer> {
  const result = await client.callTool({ name, arguments: args }, { ...(onprogress && { onprogress }) });
  const text = result.content[0]?.type === 'text' ? result.content[0].text : '';
  return result.isError ? { error: text } : (JSON.parse(text) as ToolAnswer);
}

test('the tools say what they take, and which of them only read', async () => {
  const { tools } = await client.listTools();
  const reading = tools.filter(({ annotations }) => annotations?.readOnlyHint).map(({ name }) => name);
  expect(reading).toEqual(['list_jobs', 'watch', 'results', 'list_candidates', 'trace', 'compare']);
  expect(tools.map(({ name }) => name)).toEqual(['evaluate', 'optimize', ...reading, 'control', 'deploy']);
  for (const { description, inputSchema } of tools) {
    expect(description).not.toBe('');
    expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
  }
  expect(client.getInstructions()).toContain('held-out');
});

test('an agent evaluates, reads why rows failed, optimizes, compares and deploys', async () => {
  const before = await call('evaluate', { prompt: 'prompt.txt' });
  const after = await call('evaluate', { prompt: 'better.txt', name: 'better' });
  for (const { id } of [before, after]) expect(await call('watch', { id })).toMatchObject({ status: 'completed' });
  const results = await call('results', { id: after.id });
  expect(results).toMatchObject({ summary: { mean_reward: 0.75, num_seeds: 40 } });
  const lowest = results.lowest!;
  expect(lowest.map(({ reward }) => reward)).toEqual([...Array<number>(10).fill(0), ...Array<number>(10).fill(1)]);
  const trace = await call('trace', { id: after.id, trace_id: lowest[0]!.trace_id });
  expect(JSON.stringify(trace)).toContain('needs rule-3.');
  expect(await call('compare', { a: before.id, b: after.id })).toMatchObject({ verdict: 'better', won: 30 });

  let reports = 0;
  const started = await call('optimize', { prompt: 'prompt.txt', proposer: 'fake/proposer', budget: 300 });
  expect(started).toMatchObject({ split: { heldout: expect.any(Array) } });
  const watched = await call('watch', { id: started.id }, () => (reports += 1));
  expect(watched).toMatchObject({ status: 'completed' });
  expect(reports).toBeGreaterThan(0);
  expect(await call('results', { id: started.id })).toMatchObject({ verdict: 'better' });
  expect((await call('list_jobs', { limit: 1 })).jobs).toMatchObject([{ job_id: started.id }]);

  const first = await call('list_candidates', { id: started.id, limit: 1 });
  expect(first.candidates).toMatchObject([{ is_baseline: true, decision: { reason: 'baseline' } }]);
  expect(first.candidates![0]!.messages[0]!.content).toContain(rowsBaseline);
  const others = await call('list_candidates', { id: started.id, cursor: first.next_cursor });
  const prompts = others.candidates!.map(({ messages }) => JSON.stringify(messages));
  expect(prompts.some((prompt) => prompt.includes('rule-'))).toBe(true);

  const deployed = await call('deploy', { source: started.id, name: 'agents' });
  expect(await call('watch', { id: deployed.id })).toMatchObject({ status: 'ready', live: true });
}, 60_000);

test('control pauses, resumes and cancels; watch returns after its wait', async () => {
  const { id } = await call('optimize', { prompt: 'prompt.txt', proposer: 'fake/proposer', budget: 300 });
  expect(await call('control', { id, action: 'pause' })).toEqual({ id, status: 'paused' });
  expect(await call('watch', { id, wait_seconds: 0 })).toMatchObject({ status: 'paused' });
  expect(await call('control', { id, action: 'resume' })).toEqual({ id, status: 'running' });
  expect(await call('control', { id, action: 'cancel' })).toEqual({ id, status: 'cancelled' });
}, 60_000);

test.each([
  ['evaluate', {}, '--prompt'],
  ['evaluate', { prompt: 'none.txt' }, 'none.txt'],
  ['optimize', { prompt: 'prompt.txt', scorer: 'exactly' }, 'scorer'],
  ['results', { id: 'evl_00000000000000000000000000000000' }, '404'],
  ['watch', { id: 'job 7' }, 'job 7'],
  ['list_candidates', { id: 'evl_00000000000000000000000000000000' }, '404'],
  ['compare', { a: 'none', b: 'none' }, '404'],
])('%s %j fails with the reason', async (tool, args, reason) => {
  expect((await call(tool, args)).error).toContain(reason);
});

test('the server ends when its input closes', async () => {
  const pid = transport.pid!;
  await client.close();
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');
});
