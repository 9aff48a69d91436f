import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { join } from 'node:path';

const program = join(import.meta.dirname, '../../dist/src/cli/ratchet.js');

export interface ToolAnswer {
  id?: string;
  job_id?: string;
  lowest?: { reward: number; trace_id: string; input?: string; answer?: string; expected?: string }[];
  rows?: { row: number; group: string; answer: string }[];
  /** Of the queue of reviews. */
  data?: { subject_id: string; row: number }[];
  jobs?: { job_id: string }[];
  next_offset?: number | null;
  candidates?: { candidate_id: string; messages: { content: string }[] }[];
  messages?: { content: string }[];
  best_prompt?: object | null;
  next_cursor?: string | null;
  served_until?: string;
  /** The text of a call that failed. */
  error?: string;
}

/** `ratchet mcp` with the official client, as a coding agent starts it. */
export class Tools {
  readonly client = new Client({ name: 'agent', version: '1.0.0' });
  readonly #transport: StdioClientTransport;
  /** Characters of the longest answer of each tool, without a best prompt. */
  readonly longest = new Map<string, number>();

  constructor(cwd: string, env: Record<string, string>, args: readonly string[] = []) {
    this.#transport = new StdioClientTransport({
      command: process.execPath,
      args: [program, 'mcp', ...args],
      cwd,
      env: { ...(process.env as Record<string, string>), ...env },
      stderr: 'ignore',
    });
  }

  get pid(): number {
    return this.#transport.pid!;
  }

  async connect(): Promise<this> {
    await this.client.connect(this.#transport);
    return this;
  }

  /** The JSON of a tool's answer. */
  async call(name: string, args: Record<string, unknown>, onprogress?: () => void): Promise<ToolAnswer> {
    const result = await this.client.callTool({ name, arguments: args }, { ...(onprogress && { onprogress }) });
    const text = result.content[0]?.type === 'text' ? result.content[0].text : '';
    const answer = result.isError ? { error: text } : (JSON.parse(text) as ToolAnswer);
    const { length } = JSON.stringify({ ...answer, best_prompt: undefined });
    this.longest.set(name, Math.max(length, this.longest.get(name) ?? 0));
    return answer;
  }

  close(): Promise<void> {
    return this.client.close();
  }
}
