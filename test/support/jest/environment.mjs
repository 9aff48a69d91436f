import vm from 'node:vm';
import { TestEnvironment } from 'jest-environment-node';

/**
 * Jest's environment for Node, but its realm has a global object of its own. Jest's own one is a
 * proxy behind a C++ interceptor, so that every global which code names (`Math`, `Map`, `Buffer`)
 * costs microseconds: a third of the whole run.
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
