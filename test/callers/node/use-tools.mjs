// Uses `ratchet mcp` by @modelcontextprotocol/sdk, as python/use_tools.py does.
import { json } from 'node:stream/consumers';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const client = new Client({ name: 'agent', version: '1.0.0' });
await client.connect(new StdioClientTransport(await json(process.stdin)));
const { tools } = await client.listTools();
const call = (name, args) => client.callTool({ name, arguments: args });
const answer = ({ isError, content: [{ text }] }) => {
  if (isError) throw new Error(text);
  return JSON.parse(text);
};
const { id } = answer(await call('evaluate', { prompt: 'prompt.txt', data: 'rows.jsonl' }));
const { status } = answer(await call('watch', { id }));
const unknown = await call('results', { id: 'evl_unknown' });
const invalid = await call('results', {});
console.log(
  JSON.stringify({
    server: client.getServerVersion().name,
    tools: tools.map(({ name }) => name),
    status,
    errors: [unknown.isError, invalid.isError],
  }),
);
await client.close();
