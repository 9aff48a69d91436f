// Plays scenarios with one client: as python/play.py, with the module of the client as argument.
import { json } from 'node:stream/consumers';

const { Caller } = await import(`./${process.argv[2]}.mjs`);

/** The classes, status and code of an error and of its causes, wherever the client keeps them. */
function told(error) {
  const causes = [];
  for (let at = error; at; at = at.lastError ?? at.cause) causes.push(at);
  const first = (read) => causes.map(read).find((value) => value !== undefined && value !== null) ?? null;
  return {
    errors: [...new Set(causes.flatMap(classesOf))],
    status: first(({ status, statusCode }) => status ?? statusCode),
    code: first(codeOf),
    message: String(error.message).slice(0, 300),
  };
}

function codeOf({ code, error, data, responseBody }) {
  const known = code ?? error?.code ?? error?.error?.code ?? data?.error?.code;
  // @ai-sdk/anthropic keeps the body as a text only.
  return known ?? (responseBody === undefined ? undefined : JSON.parse(responseBody).error?.code);
}

function classesOf(error) {
  const names = [];
  for (let at = Object.getPrototypeOf(error); at && at !== Error.prototype; at = Object.getPrototypeOf(at))
    names.push(at.constructor.name);
  return names;
}

async function play(scenarios) {
  const said = {};
  for (const { name, does, url, key, model, question } of scenarios) {
    const caller = new Caller({ url, key, model });
    if (caller[does]) said[name] = await caller[does](question).catch(told);
  }
  return said;
}

const parts = await Promise.all((await json(process.stdin)).map(play));
process.stdout.write(JSON.stringify(Object.assign({}, ...parts)), () => process.exit());
