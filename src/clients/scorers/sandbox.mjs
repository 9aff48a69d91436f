// A thread that runs a scorer's function once, in a context without Node's objects.
import { createContext, runInContext } from 'node:vm';
import { parentPort, workerData } from 'node:worker_threads';

const { script, input, timeMs } = workerData;

// Buffers are outside the heap, whose size is limited. The console is V8's own.
const removed = [
  'console',
  ...['ArrayBuffer', 'SharedArrayBuffer', 'Atomics', 'DataView', 'WebAssembly'],
  ...['Int8Array', 'Uint8Array', 'Uint8ClampedArray', 'Int16Array', 'Uint16Array', 'Int32Array', 'Uint32Array'],
  ...['Float16Array', 'Float32Array', 'Float64Array', 'BigInt64Array', 'BigUint64Array'],
];

// Only texts leave the context, and no error: a getter of either could run without a time limit.
const run = (inner) => `(() => {
  const { parse, stringify } = JSON;
  const text = String;
  try {
    ${inner}
  } catch (error) {
    let message = 'an error without a message';
    try {
      message = text(error && error.message ? error.message : error);
    } catch {}
    return stringify({ error: message });
  }
})()`;

const call = run(`
    const { output, row, expected } = parse(${JSON.stringify(input)});
    if (typeof globalThis.scorer !== 'function') throw new TypeError('it is no function');
    const value = globalThis.scorer(output, row, expected);
    if (value && typeof value.then === 'function') throw new TypeError('it is asynchronous; return the reward itself');
    return stringify({ value });`);

function report() {
  const context = createContext(Object.create(null), {
    codeGeneration: { strings: false, wasm: false },
    microtaskMode: 'afterEvaluate',
  });
  const until = Date.now() + timeMs;
  const evaluate = (text) => runInContext(text, context, { timeout: Math.max(1, until - Date.now()) });
  try {
    evaluate(removed.map((name) => `delete globalThis.${name};`).join(''));
    evaluate(script);
    const { error, value } = JSON.parse(evaluate(call));
    if (error !== undefined) return { kind: 'error', message: error };
    return { kind: 'value', json: value === undefined ? null : JSON.stringify(value) };
  } catch (error) {
    if (error?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return { kind: 'timeout' };
    return { kind: 'error', message: String(error?.message) };
  }
}

parentPort.postMessage(report());
