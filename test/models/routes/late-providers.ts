import { createProviders, type Providers } from '../../../src/models/client/providers.js';

type Settings = Parameters<typeof createProviders>;

/** Providers that are made at their first use, when the models of the tests have an address. */
export function lateProviders(settings: () => Settings): Providers {
  let made: Providers | undefined;
  const real = () => (made ??= createProviders(...settings()));
  return new Proxy({} as Providers, { get: (_, name) => Reflect.get(real(), name) as unknown });
}
