import { z } from 'zod';

/** The parts of the engine API's responses that are used. Everything else is ignored. */
export const VersionResponse = z.object({
  Version: z.string(),
  ApiVersion: z.string().regex(/^\d+\.\d+$/),
  MinAPIVersion: z
    .string()
    .regex(/^\d+\.\d+$/)
    .optional(),
  Components: z.array(z.object({ Name: z.string() })).nullish(),
});

export const InfoResponse = z.object({
  /** Podman has this field. Docker lists it among its security options. */
  Rootless: z.boolean().nullish(),
  SecurityOptions: z.array(z.string()).nullish(),
  Runtimes: z.record(z.string(), z.unknown()).nullish(),
  CDISpecDirs: z.array(z.string()).nullish(),
});

export const CreateResponse = z.object({ Id: z.string() });
export const FailureResponse = z.object({ message: z.string() });

export const ListResponse = z.array(
  z.object({ Id: z.string(), State: z.string(), Labels: z.record(z.string(), z.string()).nullish() }),
);

export const InspectResponse = z.object({
  Id: z.string(),
  Image: z.string(),
  State: z.object({
    Running: z.boolean(),
    OOMKilled: z.boolean().nullish(),
    Pid: z.number().int(),
    ExitCode: z.number().int(),
    Error: z.string().nullish(),
  }),
  Config: z.object({ Labels: z.record(z.string(), z.string()).nullish() }),
  NetworkSettings: z
    .object({
      Ports: z.record(z.string(), z.array(z.object({ HostPort: z.string() })).nullable()).nullish(),
    })
    .nullish(),
});
