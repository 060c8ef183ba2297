"""Says of each document whether a JSON Schema lets it pass: `{"schema", "documents"}` in, a list of texts out.

A text is empty for a document that passes, else it is the first complaint. The schema itself is checked first.
"""

import json
import sys

from jsonschema import Draft202012Validator

given = json.load(sys.stdin)
Draft202012Validator.check_schema(given["schema"])
validator = Draft202012Validator(given["schema"])


def complaint(document):
    for error in validator.iter_errors(document):
        return f"{error.json_path}: {error.message}"
    return ""


json.dump([complaint(document) for document in given["documents"]], sys.stdout)
