import vm from 'node:vm';
import { TestEnvironment } from 'jest-environment-node';

/** Compiled modules of this process, by path. */
const scripts = new Map();

/**
 * Jest compiles every module again for each test file: half the time of loading the service. A
 * script runs in any context, with the functions that earlier files compiled.
 */
vm.compileFunction = (source, params, { filename, parsingContext }) => {
  let known = scripts.get(filename);
  if (known?.source !== source) {
    const head = `(function (${params.join(', ')}) {`;
    const script = new vm.Script(`${head}${source}\n})`, { filename, columnOffset: -head.length });
    known = { source, script };
    scripts.set(filename, known);
  }
  return known.script.runInContext(parsingContext);
};

/**
 * Jest's environment for Node with an ordinary global object. Jest's own is a proxy behind a C++
 * interceptor, so that each access to a global (`Math`, `Map`) costs microseconds: a third of a run.
 */
export default class Environment extends TestEnvironment {
  constructor(config, context) {
    const { createContext } = vm;
    vm.createContext = () => createContext(vm.constants.DONT_CONTEXTIFY);
    try {
      super(config, context);
    } finally {
      vm.createContext = createContext;
    }
  }
}
