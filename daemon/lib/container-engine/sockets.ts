/** What the usual places of sockets depend on. */
export interface SocketLocations {
  /** A socket that was configured: then no other is looked at. Blank: none was. */
  readonly configured: string;
  /** The folder of this user's own sockets; undefined when there is none. */
  readonly runtimeFolder: string | undefined;
}

/** Where the sockets of container engines usually are, this user's own first: they need no rights of root. */
export function socketCandidates({ configured, runtimeFolder }: SocketLocations): string[] {
  if (configured !== '') return [configured.replace(/^unix:\/\//, '')];
  const own =
    runtimeFolder === undefined
      ? []
      : [`${runtimeFolder}/podman/podman.sock`, `${runtimeFolder}/docker.sock`];
  return [...own, '/run/podman/podman.sock', '/var/run/docker.sock'];
}
