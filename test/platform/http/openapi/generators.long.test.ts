import { execFile, type ExecFileException } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect } from '@jest/globals';
import { documentOf } from '../../../support/api.js';
import { generators } from '../../../callers/pins.js';
import { goProgram } from '../../../support/go.js';
import { nodeWith } from '../../../support/npm.js';
import { pythonWith } from '../../../support/python.js';
import { serviceOfFile } from '../../../support/service-of-file.js';

// Generators of clients take the OpenAPI document without a warning, and the clients work.

const on = serviceOfFile();
const inPython = ({ name, version }: { name: string; version: string }) => pythonWith(name, version, '3.10');
const inNode = ({ name, version, beside }: { name: string; version: string; beside: readonly string[] }) =>
  nodeWith(`${name}-${version}`, [`${name}@${version}`, ...beside]);

const pythonClient = inPython(generators.openapiPythonClient);
const dataModels = inPython(generators.datamodelCodeGenerator);
const typescript = inNode(generators.openapiTypescript);
const heyApi = inNode(generators.heyApi);
const go = goProgram(generators.oapiCodegen.name, generators.oapiCodegen.version);

const compilerOptions = {
  strict: true,
  module: 'nodenext',
  target: 'es2022',
  outDir: 'out',
  types: [],
  lib: ['es2022', 'dom', 'dom.iterable'],
};

let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ratchet-generators-'));
  writeFileSync(join(folder, 'openapi.json'), JSON.stringify(await documentOf(on.service.url)));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['use.ts'] }));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The output of a program that ends well; rejects otherwise. The service runs in this process. */
async function run(program: string, args: string[], env: Record<string, string> = {}): Promise<string> {
  const options = { cwd: folder, timeout: 240_000, env: { ...process.env, ...env } };
  const { stdout, stderr } = await promisify(execFile)(program, args, options).catch((error: ExecFileException) => {
    throw new Error(`${error.message}\n${error.stdout}`);
  });
  return stdout + stderr;
}

/** Compiles use.ts into out/ without a fault. */
const compile = () =>
  run(process.execPath, [resolve(__dirname, '../../../../node_modules/typescript/bin/tsc'), '-p', '.']);

typescript.test(
  'openapi-typescript: types that compile',
  async () => {
    const program = join(typescript.home, 'node_modules/openapi-typescript/bin/cli.js');
    expect(await run(process.execPath, [program, 'openapi.json', '-o', 'api.ts'])).not.toMatch(/warn/i);
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
    await compile();
  },
  300_000,
);

heyApi.test(
  'hey-api: a client that runs an evaluation',
  async () => {
    const program = join(heyApi.home, 'node_modules/@hey-api/openapi-ts/bin/run.js');
    const generate = ['-i', 'openapi.json', '-o', 'hey', '-c', '@hey-api/client-fetch'];
    expect(await run(process.execPath, [program, ...generate])).not.toMatch(/warn/i);
    writeFileSync(join(folder, 'use.ts'), useOfHeyApi);
    await compile();
    const env = { URL: on.service.url, KEY: on.service.apiKey };
    expect(JSON.parse(await run(process.execPath, ['out/use.js'], env))).toEqual({
      status: 'completed',
      seeds: 2,
      types,
    });
  },
  300_000,
);

const types = ['eval.policy.seed.completed', 'eval.policy.job.completed'];
const rows = `[{ input: '1 + 1', expected: '2' }, { input: '2 + 2', expected: '4' }]`;
const useOfHeyApi = `
import { client } from './hey/client.gen.js';
import { createEvaluation, getEvaluation, listEvaluationEvents } from './hey/sdk.gen.js';
import type { Event } from './hey/types.gen.js';

declare const process: { env: Record<string, string> };
client.setConfig({ baseUrl: process.env['URL']!, auth: process.env['KEY']!, headers: { accept: 'application/json' } });
const { data: made } = await createEvaluation({
  throwOnError: true,
  body: {
    dataset: { rows: ${rows} },
    scorer: { type: 'exact' },
    policy: { provider: 'local', model: 'local' },
    candidate: { messages: [{ role: 'user', content: '{{input}}' }] },
  },
});
if (!('job_id' in made)) throw new Error('a dry run');
const path = { job_id: made.job_id };
const read = () => getEvaluation({ throwOnError: true, path }).then(({ data }) => data);
let job = await read();
while (job.status !== 'completed' && job.status !== 'failed') job = await read();
const { data } = await listEvaluationEvents({ throwOnError: true, path, query: { since_seq: 0 } });
if (!data) throw new Error('no events');
export const rewardOf = (event: Event) => (event.type === 'rollout_completed' ? event.data.reward : null);
// @ts-expect-error: no event has this type.
export const none = (event: Event) => event.type === 'rollout_complete';
const types = [...new Set(data.events.map(({ type }) => type))];
console.log(JSON.stringify({ status: job.status, seeds: job.summary?.num_seeds, types }));
`;

dataModels.test(
  'datamodel-code-generator: models that take what the service says',
  async () => {
    const options = ['--input', 'openapi.json', '--input-file-type', 'openapi', '--output', 'models.py'];
    const kind = ['--output-model-type', 'pydantic_v2.BaseModel', '--target-python-version', '3.10'];
    await run(dataModels.python, ['-m', 'datamodel_code_generator', ...options, ...kind, '--formatters', 'builtin']);
    const examples = recordedExamples();
    expect(examples.length).toBeGreaterThan(50);
    writeFileSync(join(folder, 'examples.json'), JSON.stringify(examples));
    writeFileSync(join(folder, 'validate.py'), validation);
    expect(JSON.parse(await run(dataModels.python, ['validate.py']))).toEqual([]);
  },
  300_000,
);

interface Named {
  $ref: string;
}

/** The recorded examples of bodies whose schema is a component, with its name. */
function recordedExamples(): { model: string; example: unknown }[] {
  const last = ({ $ref }: Named) => $ref.split('/').at(-1)!;
  const document = JSON.parse(readFileSync(join(folder, 'openapi.json'), 'utf8')) as {
    components: { examples: Record<string, { value: unknown }> };
  };
  const { examples: known } = document.components;
  const within = (value: unknown): { model: string; example: unknown }[] => {
    if (value === null || typeof value !== 'object') return [];
    const { schema, examples = {} } = value as { schema?: Named; examples?: Record<string, Named> };
    const here = schema?.$ref === undefined ? [] : Object.values(examples);
    return [
      ...here.map((example) => ({ model: last(schema!), example: known[last(example)]!.value })),
      ...Object.values(value).flatMap(within),
    ];
  };
  return within(document);
}

const validation = `
import json, models

refused = []
for part in json.load(open("examples.json")):
    try:
        getattr(models, part["model"]).model_validate(part["example"])
    except Exception as error:
        refused.append([part["model"], str(error)[:500]])
print(json.dumps(refused))
`;

go.test(
  'oapi-codegen: Go that compiles',
  async () => {
    const env = { GOFLAGS: '-mod=mod' };
    await run('go', ['mod', 'init', 'example.com/ratchet'], env);
    await run(go.program, ['-generate', 'types,client', '-package', 'api', '-o', 'api.go', 'openapi.json'], env);
    await run('go', ['get', 'github.com/oapi-codegen/runtime@v1.9.0'], env);
    await run('go', ['vet', '.'], env);
  },
  600_000,
);

pythonClient.test(
  'openapi-python-client: a client that runs an evaluation',
  async () => {
    // It knows no media type of files but this one.
    const files = ['application/zip', 'application/jsonl', 'application/x-ndjson', 'text/csv', 'text/html'];
    const overrides = Object.fromEntries(files.map((type) => [type, 'application/octet-stream']));
    writeFileSync(
      join(folder, 'config.json'),
      JSON.stringify({ content_type_overrides: overrides, post_hooks: [], package_name_override: 'generated' }),
    );
    const generate = ['generate', '--path', 'openapi.json', '--config', 'config.json', '--output-path', 'client'];
    const said = await run(pythonClient.python, ['-m', 'openapi_python_client', ...generate]);
    expect(said).not.toMatch(/warning|error|unable|unsupported/i);
    expect(existsSync(join(folder, 'client/generated'))).toBe(true);
    writeFileSync(join(folder, 'use.py'), useOfPythonClient);
    const env = { PYTHONPATH: join(folder, 'client'), URL: on.service.url, KEY: on.service.apiKey };
    expect(JSON.parse(await run(pythonClient.python, ['use.py'], env))).toEqual({
      status: 'completed',
      seeds: 2,
      types: ['EventEvalPolicySeedCompleted', 'EventEvalPolicyJobCompleted'],
    });
  },
  300_000,
);

const useOfPythonClient = `
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
