import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';

/** A stage of a Dockerfile; `at` maps a path of the image to this machine. */
export interface Stage {
  name: string | null;
  at(path: string): string;
  workdir: string;
  env: Record<string, string>;
  user: string | null;
  entrypoint: string[];
  cmd: string[];
  healthcheck: string[];
}

/**
 * Runs the COPY and RUN steps of a Dockerfile without an engine: each stage is a folder, and the
 * base images are this machine. Files come from what `.dockerignore` permits; it permits by name.
 */
export async function buildImage(root: string, into: string): Promise<Stage> {
  const context = join(into, 'context');
  const ignored = readFileSync(join(root, '.dockerignore'), 'utf8').trim().split('\n');
  if (ignored[0] !== '*' || !ignored.slice(1).every((line) => /^![\w./-]+$/.test(line)))
    throw new Error('.dockerignore must be `*` and names after `!`');
  for (const line of ignored.slice(1)) copy(join(root, line.slice(1)), join(context, line.slice(1)));

  const stages: Stage[] = [];
  for (const [word, rest] of stepsOf(readFileSync(join(root, 'Dockerfile'), 'utf8'))) {
    if (word === 'FROM') {
      stages.push(stageIn(join(into, `stage-${stages.length}`), / AS (\w+)$/.exec(rest)?.[1] ?? null));
      continue;
    }
    await step(stages.at(-1)!, word, rest, (from) =>
      from === null ? (path) => join(context, path) : stages.find(({ name }) => name === from)!.at,
    );
  }
  return stages.at(-1)!;
}

/** The steps as [instruction, rest], without comments, continued lines joined. */
function stepsOf(dockerfile: string): [string, string][] {
  const lines = dockerfile
    .replace(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n');
  return lines.filter(Boolean).map((line) => [line.split(' ', 1)[0]!, line.slice(line.indexOf(' ') + 1)]);
}

function stageIn(folder: string, name: string | null): Stage {
  const at = (path: string) => join(folder, path);
  mkdirSync(at('usr/local/bin'), { recursive: true });
  return { name, at, workdir: '/', env: {}, user: null, entrypoint: [], cmd: [], healthcheck: [] };
}

type Place = (path: string) => string;

async function step(stage: Stage, word: string, rest: string, placeOf: (from: string | null) => Place): Promise<void> {
  const here = (path: string) => stage.at(resolve(stage.workdir, path));
  if (word === 'WORKDIR') mkdirSync(stage.at((stage.workdir = rest)), { recursive: true });
  else if (word === 'ENV')
    for (const pair of rest.split(' ')) stage.env[pair.split('=', 1)[0]!] = /=(.*)$/.exec(pair)![1]!;
  else if (word === 'USER') stage.user = rest;
  else if (word === 'ENTRYPOINT') stage.entrypoint = JSON.parse(rest) as string[];
  else if (word === 'CMD') stage.cmd = JSON.parse(rest) as string[];
  else if (word === 'HEALTHCHECK') stage.healthcheck = JSON.parse(rest.slice(rest.indexOf('['))) as string[];
  else if (word === 'COPY') {
    const [, from, files] = /^(?:--from=(\w+) )?(.*)$/.exec(rest)!;
    const sources = files!.split(' ');
    const to = sources.pop()!;
    const place = placeOf(from ?? null);
    for (const source of sources) {
      const isInto = to.endsWith('/') && !statSync(place(source)).isDirectory();
      copy(place(source), isInto ? join(here(to), basename(source)) : here(to));
    }
  } else if (word === 'RUN') {
    const script = rest.replaceAll(/(?<=^|[ '"=])\/(?=(?:app|usr)\b)/g, `${stage.at('')}/`);
    const env = { ...own(), ...stage.env };
    const child = spawn('sh', ['-ec', script], { cwd: here('.'), env, stdio: ['ignore', 'pipe', 'pipe'] });
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    if (child.exitCode !== 0) throw new Error(`RUN ${rest} ended with ${child.exitCode}:\n${out}\n${err}`);
  } else if (word !== 'EXPOSE') throw new Error(`the step ${word} of the Dockerfile is not known here`);
}

function copy(from: string, to: string): void {
  if (!existsSync(from)) throw new Error(`${from} does not exist`);
  cpSync(from, to, { recursive: true, verbatimSymlinks: true });
}

/** What every process of this machine has. */
export function own(): Record<string, string> {
  const { PATH = '', HOME = '' } = process.env;
  return { PATH, HOME };
}
