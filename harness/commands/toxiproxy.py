"""`truefall toxiproxy serve`: the embedded Toxiproxy server."""

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from faults.toxiproxy.__main__ import add_arguments as add_serve_arguments

    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    serve = actions.add_parser("serve", help="serve until interrupted; prints one line of JSON with the API's url")
    add_serve_arguments(serve)


def run(args: argparse.Namespace) -> int:
    from faults.toxiproxy.serve import ServeOptions, print_line, run_server

    options = ServeOptions(host=args.host, port=args.port, seed=args.seed, parent_pid=args.parent_pid)
    return run_server(options, print_line)
