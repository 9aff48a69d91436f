"""Types of requests and answers. Answers are plain dicts; a newer service may add fields."""

from .answers import *
from .common import *
from .requests import *
