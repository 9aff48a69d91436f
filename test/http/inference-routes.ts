import { createProviders } from '../../src/clients/models/providers.js';
import type { HttpDeps } from '../../src/http/deps.js';
import { createBytesInFlight } from '../../src/http/inference/bytes-in-flight.js';
import { registerDeploymentInference } from '../../src/http/inference/deployment.js';
import { registerProxy } from '../../src/http/inference/proxy.js';
import { secretKey, type TestHttp } from './support.js';

/** The inference routes of a server whose database is created during its start. */
export function inferenceRoutes(http: TestHttp): Pick<HttpDeps, 'registerInference'> {
  const later = <Part extends object>(part: () => Part) =>
    new Proxy({} as Part, { get: (_, name) => Reflect.get(part(), name) as unknown });
  return {
    registerInference(app) {
      const deps = {
        db: later(() => http.db),
        notifications: later(() => http.deps.notifications),
        log: later(() => http.deps.log),
        providers: createProviders({}),
        tracing: null,
        bytes: createBytesInFlight(64 * 1024 * 1024),
        secretKey,
      };
      registerProxy(app, deps);
      registerDeploymentInference(app, deps);
    },
  };
}
