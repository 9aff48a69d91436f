// A process that runs one scorer's function, each call in a context of its own. It is started by
// its text, so that it may read no file at all; see javascript.ts.
// eslint-disable-next-line @typescript-eslint/no-require-imports -- it is started as CommonJS
const { createContext, runInContext } = require('node:vm');

// What a function that leaves its context could end the worker with, or load.
for (const name of ['kill', '_kill', '_debugProcess', 'getBuiltinModule', 'mainModule', 'binding', 'dlopen'])
  Reflect.deleteProperty(process, name);
const { send: sendTo } = process;
const send = sendTo.bind(process);

// Buffers are outside the heap, whose size is limited. The console is V8's own.
const removed = [
  'console',
  ...['ArrayBuffer', 'SharedArrayBuffer', 'Atomics', 'DataView', 'WebAssembly'],
  ...['Int8Array', 'Uint8Array', 'Uint8ClampedArray', 'Int16Array', 'Uint16Array', 'Int32Array', 'Uint32Array'],
  ...['Float16Array', 'Float32Array', 'Float64Array', 'BigInt64Array', 'BigUint64Array'],
];

// Only texts leave the context, and no error: a getter of either could run without a time limit.
const run = (inner, maxChars) => `(() => {
  const { parse, stringify } = JSON;
  const text = String;
  const cut = text.call.bind(text.prototype.slice);
  try {
    ${inner}
  } catch (error) {
    let message = 'an error without a message';
    try {
      message = cut(text(error && error.message ? error.message : error), 0, ${maxChars});
    } catch {}
    return stringify({ error: message });
  }
})()`;

const call = (input, maxChars) =>
  run(
    `
    const { output, row, expected } = parse(${JSON.stringify(input)});
    if (typeof globalThis.scorer !== 'function') throw new TypeError('it is no function');
    let value = globalThis.scorer(output, row, expected);
    if (value && typeof value.then === 'function') throw new TypeError('it is asynchronous; return the reward itself');
    if (value && typeof value === 'object') {
      const { reward, feedback, details } = value;
      const short = typeof feedback === 'string' ? cut(feedback, 0, ${maxChars / 2}) : feedback;
      value = { reward, feedback: short, details };
    }
    const json = stringify({ value });
    if (json.length > ${maxChars}) throw new RangeError('it returned more than ${maxChars} characters');
    return json;`,
    maxChars,
  );

// A text, as an object of this process could be used to leave the context.
const importModuleDynamically = () => {
  throw 'a scorer cannot import modules';
};

function report({ script, input, timeMs, maxChars }) {
  const context = createContext(Object.create(null), {
    codeGeneration: { strings: false, wasm: false },
    microtaskMode: 'afterEvaluate',
  });
  const until = Date.now() + timeMs;
  const evaluate = (text) =>
    runInContext(text, context, { timeout: Math.max(1, until - Date.now()), importModuleDynamically });
  try {
    evaluate(removed.map((name) => `delete globalThis.${name};`).join(''));
    evaluate(script);
    const { error, value } = JSON.parse(evaluate(call(input, maxChars)));
    if (error !== undefined) return { kind: 'error', message: error };
    return { kind: 'value', json: value === undefined ? null : JSON.stringify(value) };
  } catch (error) {
    if (error?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return { kind: 'timeout' };
    return { kind: 'error', message: String(error?.message ?? error).slice(0, maxChars) };
  }
}

process.on('disconnect', () => process.exit());
process.on('message', (task) => send(report(task)));
