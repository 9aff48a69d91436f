import { createProviders } from '../../../src/models/client/providers.js';
import type { HttpDeps } from '../../../src/platform/http/deps.js';
import { createBytesInFlight } from '../../../src/models/routes/bytes-in-flight.js';
import { registerDeploymentInference } from '../../../src/models/routes/deployments/routes.js';
import { registerProxy } from '../../../src/models/routes/proxy.js';
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
