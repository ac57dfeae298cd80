/** What svcctl is, where it finds the gateway and which keys it sends, in lines of Markdown for its manuals. */
export const ABOUT: readonly string[] = [
  'A thin client of the HTTP API. It finds the gateway by `--url`, else `SVC_URL`, else `SVC_BIND_HOST` and',
  '`SVC_PORT`, else the address that the running gateway wrote to its state folder, else the one of `api.env` and `config.toml`. The key is `SVC_ADMIN_KEY`, then `SVC_CLIENT_KEY` of the environment, then those of',
  "`api.env`; it is never taken as an argument. `api.env` belongs to this machine's gateway: where `--url` or `SVC_URL` names",
  'another host than loopback, an address or the name of this machine, or where the port is held by a user who is neither root,',
  'nor you, nor the owner of `api.env` or of the state, only keys of the environment are sent. Tables are cut to',
  'the width of the terminal or of `COLUMNS`; piped output, `--wide` and `--json` are never cut. `--json` prints what the API answers.',
];
