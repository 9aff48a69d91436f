import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { goProgram } from '../../support/go.js';
import { pythonWith } from '../../support/python.js';
import { serviceOfFile } from '../../support/service-of-file.js';

// Generators of clients take the OpenAPI document without a warning, and the clients work.

const on = serviceOfFile();
const { python, test: pythonTest } = pythonWith('openapi-python-client', '0.29.1', '3.10');

const generator = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen';
const { program: oapiCodegen, test: goTest } = goProgram(generator, '2.8.2');

let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ratchet-generators-'));
  writeFileSync(join(folder, 'openapi.json'), JSON.stringify(await on.service.api.call('GET', '/openapi.json')));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The output of a program that ends well; rejects otherwise. The service runs in this process. */
async function run(program: string, args: string[], env: Record<string, string> = {}): Promise<string> {
  const options = { cwd: folder, timeout: 240_000, env: { ...process.env, ...env } };
  const { stdout, stderr } = await promisify(execFile)(program, args, options);
  return stdout + stderr;
}

test('openapi-typescript: types that compile', async () => {
  const packages = ['openapi-typescript@7.13.0', 'typescript@5.9.3'].map((name) => `--package=${name}`);
  const said = await run('npm', [
    'exec',
    '--yes',
    ...packages,
    '--',
    'openapi-typescript',
    'openapi.json',
    '-o',
    'api.ts',
  ]);
  expect(said).not.toMatch(/warn/i);
  writeFileSync(
    join(folder, 'use.ts'),
    `import type { components, operations } from './api.js';
    export const body: operations['createEvaluation']['requestBody']['content']['application/json'] = {
      policy: { provider: 'local', model: 'local' }, seeds: { from: 0, to: 9 }, scorer: { type: 'exact' },
    } as components['schemas']['CreateEvaluation'];
    export const rewardOf = (event: components['schemas']['Event']) =>
      event.type === 'rollout_completed' ? event.data.reward : null;
    // @ts-expect-error: no event has this type.
    export const none = (event: components['schemas']['Event']) => event.type === 'rollout_complete';`,
  );
  const tsc = resolve(__dirname, '../../../node_modules/typescript/bin/tsc');
  await run(process.execPath, [tsc, '--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022', 'use.ts']);
}, 300_000);

goTest(
  'oapi-codegen: Go that compiles',
  async () => {
    const env = { GOFLAGS: '-mod=mod' };
    await run('go', ['mod', 'init', 'example.com/ratchet'], env);
    await run(oapiCodegen, ['-generate', 'types,client', '-package', 'api', '-o', 'api.go', 'openapi.json'], env);
    await run('go', ['get', 'github.com/oapi-codegen/runtime@v1.9.0'], env);
    await run('go', ['vet', '.'], env);
  },
  600_000,
);

pythonTest(
  'openapi-python-client: a client that runs an evaluation',
  async () => {
    // It knows no media type of files but this one.
    const files = ['application/zip', 'application/jsonl', 'application/x-ndjson', 'text/csv'];
    const overrides = Object.fromEntries(files.map((type) => [type, 'application/octet-stream']));
    writeFileSync(
      join(folder, 'config.json'),
      JSON.stringify({ content_type_overrides: overrides, post_hooks: [], package_name_override: 'generated' }),
    );
    const generate = ['generate', '--path', 'openapi.json', '--config', 'config.json', '--output-path', 'client'];
    const said = await run(python, ['-m', 'openapi_python_client', ...generate]);
    expect(said).not.toMatch(/warning|error|unable|unsupported/i);
    expect(existsSync(join(folder, 'client/generated'))).toBe(true);
    writeFileSync(join(folder, 'use.py'), program);
    const env = { PYTHONPATH: join(folder, 'client'), URL: on.service.url, KEY: on.service.apiKey };
    expect(JSON.parse(await run(python, ['use.py'], env))).toEqual({
      status: 'completed',
      seeds: 2,
      types: ['EventEvalPolicySeedCompleted', 'EventEvalPolicyJobCompleted'],
    });
  },
  300_000,
);

const program = `
import json, os, time
from generated import AuthenticatedClient
from generated.api.evaluations import create_evaluation, get_evaluation, list_evaluation_events
from generated.models import CreateEvaluation

client = AuthenticatedClient(base_url=os.environ["URL"], token=os.environ["KEY"], headers={"accept": "application/json"})
made = create_evaluation.sync(client=client, body=CreateEvaluation.from_dict({
    "dataset": {"rows": [{"input": "1 + 1", "expected": "2"}, {"input": "2 + 2", "expected": "4"}]},
    "scorer": {"type": "exact"},
    "policy": {"provider": "local", "model": "local"},
    "candidate": {"messages": [{"role": "user", "content": "{{input}}"}]},
}))
while (job := get_evaluation.sync(made.job_id, client=client)).status not in ("completed", "failed"):
    time.sleep(0.2)
events = list_evaluation_events.sync(made.job_id, client=client).events
types = list(dict.fromkeys(type(event).__name__ for event in events))
print(json.dumps({"status": job.status, "seeds": job.summary.num_seeds, "types": types}))
`;
