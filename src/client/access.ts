import { Resource } from './resource.js';
import type { Answer, Body, CallOptions, Item, Query } from './types.js';

/** `client.orgs`, for operators. */
export class Organizations extends Resource {
  create(body: Body<'createOrganization'>, options?: CallOptions): Promise<Answer<'createOrganization'>> {
    return this.client.request('createOrganization', { ...options, body });
  }

  list(query?: Query<'listOrganizations'>, options?: CallOptions): AsyncGenerator<Item<'listOrganizations'>, void> {
    return this.client.list('listOrganizations', { ...options, query });
  }

  /** Deletes an organization with all its data; its name confirms it. */
  delete(orgId: string, name: string, options?: CallOptions): Promise<undefined> {
    return this.client.request('deleteOrganization', { ...options, path: { org_id: orgId }, query: { name } });
  }

  limits(query?: Query<'getOrganizationLimits'>, options?: CallOptions): Promise<Answer<'getOrganizationLimits'>> {
    return this.client.request('getOrganizationLimits', { ...options, query });
  }

  /** Sets all limits; those that are left out are removed. */
  setLimits(
    body: Body<'setOrganizationLimits'>,
    query?: Query<'setOrganizationLimits'>,
    options?: CallOptions,
  ): Promise<Answer<'setOrganizationLimits'>> {
    return this.client.request('setOrganizationLimits', { ...options, body, query });
  }

  /** What changed in the organization, newest first. */
  auditLog(query?: Query<'listAuditEntries'>, options?: CallOptions): AsyncGenerator<Item<'listAuditEntries'>, void> {
    return this.client.list('listAuditEntries', { ...options, query });
  }
}

/** `client.keys`; `query.org_id` names another organization, for operators. */
export class Keys extends Resource {
  /** The answer has the key, once. */
  create(body: Body<'createApiKey'>, query?: Query<'createApiKey'>, options?: CallOptions) {
    return this.client.request('createApiKey', { ...options, body, query });
  }

  list(query?: Query<'listApiKeys'>, options?: CallOptions): AsyncGenerator<Item<'listApiKeys'>, void> {
    return this.client.list('listApiKeys', { ...options, query });
  }

  rotate(keyId: string, body: Body<'rotateApiKey'> = {}, query?: Query<'rotateApiKey'>, options?: CallOptions) {
    return this.client.request('rotateApiKey', { ...options, path: { key_id: keyId }, body, query });
  }

  revoke(keyId: string, query?: Query<'revokeApiKey'>, options?: CallOptions): Promise<undefined> {
    return this.client.request('revokeApiKey', { ...options, path: { key_id: keyId }, query });
  }

  limits(keyId: string, query?: Query<'getApiKeyLimits'>, options?: CallOptions) {
    return this.client.request('getApiKeyLimits', { ...options, path: { key_id: keyId }, query });
  }

  /** Sets all limits; those that are left out are removed. */
  setLimits(keyId: string, body: Body<'setApiKeyLimits'>, query?: Query<'setApiKeyLimits'>, options?: CallOptions) {
    return this.client.request('setApiKeyLimits', { ...options, path: { key_id: keyId }, body, query });
  }
}

/** `client.providerKeys`: keys of model providers that belong to the organization. */
export class ProviderKeys extends Resource {
  list(query?: Query<'listProviderKeys'>, options?: CallOptions): Promise<Answer<'listProviderKeys'>> {
    return this.client.request('listProviderKeys', { ...options, query });
  }

  set(provider: string, apiKey: string, query?: Query<'setProviderKey'>, options?: CallOptions) {
    return this.client.request('setProviderKey', { ...options, path: { provider }, body: { api_key: apiKey }, query });
  }

  delete(provider: string, query?: Query<'deleteProviderKey'>, options?: CallOptions): Promise<undefined> {
    return this.client.request('deleteProviderKey', { ...options, path: { provider }, query });
  }
}
