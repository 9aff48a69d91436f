import type { ErrorRow } from './row.js';

/** Codes of requests: what a caller gets before a job or a model has anything to do with it. */
export const requestCodes = {
  bad_request: {
    status: [400],
    at: ['problem'],
    retry: false,
    meaning: 'The request is no valid HTTP, or Fastify refuses it',
    remedy: 'Send the request as the OpenAPI document says',
  },
  bad_url: {
    status: [400],
    at: ['problem'],
    retry: false,
    meaning: 'The path is not a valid URL path',
    remedy: 'Encode the path',
  },
  malformed_json: {
    status: [400],
    at: ['problem'],
    retry: false,
    meaning: 'The body is not valid JSON',
    remedy: 'Send one JSON value',
  },
  unauthorized: {
    status: [401],
    at: ['problem'],
    retry: false,
    meaning: 'No key, an unknown, revoked or expired one, or two that differ',
    remedy: 'Send a valid key in one header',
  },
  login_link_used: {
    status: [401],
    at: ['problem'],
    retry: false,
    meaning: 'The link of `npm start` was used, or is too old',
    remedy: 'Sign in with an API key, or start the service again',
  },
  missing_scope: {
    status: [403],
    at: ['problem'],
    retry: false,
    meaning: 'The key lacks the scope that `required_scope` names',
    remedy: 'Use a key with this scope',
  },
  foreign_origin: {
    status: [403],
    at: ['problem'],
    retry: false,
    meaning: 'A web page of another origin would change something',
    remedy: 'Call the API from a server',
  },
  not_operator: {
    status: [403],
    at: ['problem'],
    retry: false,
    meaning: 'Only an admin key of the organization `default` may do this',
    remedy: 'Ask the operator',
  },
  not_found: {
    status: [404],
    at: ['problem'],
    retry: false,
    meaning: 'The path is unknown, or the thing is, or it belongs to another organization',
    remedy: 'Check path, id and key',
  },
  method_not_allowed: {
    status: [405],
    at: ['problem'],
    retry: false,
    meaning: 'The path does not take this method',
    remedy: 'Use a method of the header `Allow`',
  },
  request_timeout: {
    status: [408],
    at: ['problem'],
    retry: true,
    meaning: 'The head of the request did not arrive in time',
    remedy: 'Send it again',
  },
} as const satisfies Record<string, ErrorRow>;
